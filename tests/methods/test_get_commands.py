"""get_commands, and "/name" at the beginning of a prompt."""

from pathlib import Path

import pytest

from tests.support.agent_server import Home, serving

pytestmark = pytest.mark.anyio


async def test_templates_and_skills_are_listed_and_a_prompt_is_expanded(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.config / "prompts").mkdir()
    (home.config / "prompts" / "review.md").write_text("---\ndescription: Look closely\n---\nReview $1, please.")
    (home.config / "skills" / "deploy").mkdir(parents=True)
    (home.config / "skills" / "deploy" / "SKILL.md").write_text("---\nname: deploy\ndescription: Ship it\n---\nSteps.")
    home.script({"text": "done"})
    async with serving(home) as client:
        commands = (await client.request("get_commands"))["commands"]
        assert [(c["name"], c["source"]) for c in commands] == [("deploy", "skill"), ("review", "prompt")]
        await client.request("prompt", {"message": "/review main.py", "wait": True})
        system, user, _ = (await client.request("get_messages"))["messages"]
        assert user["content"] == "Review main.py, please."
        assert "deploy: Ship it" in system["sections"]["skills"]


async def test_a_projects_commands_count_only_once_it_is_trusted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.project / ".rpc-agent" / "prompts").mkdir(parents=True)
    (home.project / ".rpc-agent" / "prompts" / "own.md").write_text("Own.")
    async with serving(home) as client:
        assert (await client.request("get_commands"))["commands"] == []
        await client.request("trust_project", {"cwd": str(home.project), "trusted": True})
        await client.request("new_session")
        assert [c["name"] for c in (await client.request("get_commands"))["commands"]] == ["own"]
