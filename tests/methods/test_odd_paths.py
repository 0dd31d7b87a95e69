"""What no path can be, given where a path belongs: refused by the name of its field, and never an internal error."""

from pathlib import Path
from typing import Any

import pytest

from rpc_agent.rpc.errors import RpcError
from rpc_agent.server.options import ServeOptions
from tests.support.agent_server import CheckingClient, Home, serving

pytestmark = pytest.mark.anyio

ODD = {
    "NUL": "\0",
    "NUL inside": "a/\0/b",
    "home of nobody": "~nobodyhere/x",
    "long name": "x" * 5000,
    "long path": "/xy" * 2000,
}
PLACES: dict[str, tuple[str, dict[str, Any], str]] = {
    "open path": ("open_session", {}, "path"),
    "open latest in": ("open_session", {"latest": True}, "cwd"),
    "open id in": ("open_session", {"id": "x"}, "cwd"),
    "new in": ("new_session", {}, "cwd"),
    "delete path": ("delete_session", {}, "path"),
    "list of": ("list_sessions", {}, "cwd"),
    "trust": ("trust_project", {"trusted": True}, "cwd"),
    "export to": ("export_session", {"format": "html"}, "outputPath"),
}


class Launched(Home):
    """Started with these options, and without a variable that would win over the setting `sessionDir`."""

    def __init__(self, root: Path, **values: Any) -> None:
        super().__init__(root)
        self.values = values

    @property
    def environment(self) -> dict[str, str]:
        return {name: text for name, text in super().environment.items() if name != "RPC_AGENT_SESSION_DIR"}

    def options(self, **values: Any) -> ServeOptions:
        return ServeOptions(**{"cwd": str(self.project), **values, **self.values})


async def refusal(client: CheckingClient, method: str, params: Any = None) -> tuple[int, list[str]]:
    with pytest.raises(RpcError) as refused:
        await client.request(method, params)
    return refused.value.code, [error["path"] for error in (refused.value.data or {}).get("errors", ())]


@pytest.mark.parametrize("place", PLACES)
async def test_an_odd_path_is_refused_naming_its_field(tmp_path: Path, place: str) -> None:
    method, params, field = PLACES[place]
    async with serving(Home(tmp_path)) as client:
        found = {name: await refusal(client, method, {**params, field: odd}) for name, odd in ODD.items()}
    assert found == dict.fromkeys(ODD, (-32602, [field]))


@pytest.mark.parametrize(("option", "field"), [("cwd", "cwd"), ("session", "session"), ("config_dir", "configDir")])
@pytest.mark.parametrize("odd", ["~nobodyhere/x", "x" * 5000])
async def test_an_odd_path_on_the_command_line_is_refused_by_what_needs_it(
    tmp_path: Path, option: str, field: str, odd: str
) -> None:
    home = Launched(tmp_path, **{option: odd})
    async with serving(home) as client:
        assert [await refusal(client, "get_state") for _ in range(2)] == [(-32602, [field])] * 2


async def test_a_directory_too_deep_for_the_name_of_a_folder_has_sessions_like_any_other(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d" * 100] * 3)
    deep.mkdir(parents=True)
    home = Home(tmp_path)
    async with serving(home) as client:
        made = await client.request("new_session", {"cwd": str(deep)})
        await client.request("prompt", {"message": "What files are here?", "wait": True})
        found = (await client.request("list_sessions", {"cwd": str(deep)}))["sessions"]
    assert [session["id"] for session in found] == [made["sessionId"]]
    launched = Launched(tmp_path, cwd=str(deep), session_dir=str(home.sessions), continue_latest=True)
    async with serving(launched) as client:
        assert (await client.request("get_state"))["sessionId"] == made["sessionId"]


@pytest.mark.parametrize("patch", [{"sessionDir": "\0"}, {"sessionDir": "x" * 5000}, {"shell": {"path": "a\0"}}])
@pytest.mark.parametrize("scope", ["user", "session", "project"])
async def test_a_setting_that_can_be_no_path_is_not_saved(tmp_path: Path, scope: str, patch: dict[str, Any]) -> None:
    field = "patch.shell.path" if "shell" in patch else "patch.sessionDir"
    home = Home(tmp_path)
    async with serving(home) as client:
        params = {"patch": patch, "scope": scope}
        assert await refusal(client, "update_settings", params) == (-32602, [field])
    assert not (home.config / "settings.json").exists()


@pytest.mark.parametrize("value", ["\0", "x" * 5000, "\u00e9" * 200, "\ud800"])
async def test_a_saved_sessions_folder_that_can_be_no_path_is_named(tmp_path: Path, value: str) -> None:
    home = Launched(tmp_path)
    home.settings(sessionDir=value)
    async with serving(home) as client:
        for method in ("list_sessions", "new_session", "get_state"):
            with pytest.raises(RpcError) as refused:
                await client.request(method)
            assert (refused.value.code, "sessionDir" in refused.value.message) == (-32602, True)
