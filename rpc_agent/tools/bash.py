"""The tool `bash`: a shell command, its output, and how it ended."""

from collections.abc import Mapping
from typing import Any

from rpc_agent.conversation.json_values import JsonObject
from rpc_agent.conversation.tool_spec import ToolSpec
from rpc_agent.tools.base import ToolContext, ToolResult, error_result, text_result
from rpc_agent.tools.command import CommandOutcome, run_command
from rpc_agent.tools.command_output import FullOutput
from rpc_agent.tools.function_tool import FunctionTool, object_schema
from rpc_agent.tools.truncation import MAX_BYTES, MAX_LINES, size_text, truncate_tail

_DESCRIPTION = f"""\
Run a command in a shell, in the working directory. Returns stdout and stderr together as they came; of long output \
the last {MAX_LINES} lines or {MAX_BYTES // 1024} KiB, with the path of a file that holds all of it. Standard input is \
empty, so give programs their answers as options. Everything the command starts, in the background too, ends with it."""

_SPEC = ToolSpec(
    "bash",
    _DESCRIPTION,
    object_schema(
        {
            "command": {"type": "string", "minLength": 1, "description": "The command line."},
            "timeout": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "Seconds after which the command is stopped; without it there is no limit.",
            },
        },
        required=("command",),
    ),
)


def bash_tool(shell: str | None = None) -> FunctionTool:
    """`shell` is the program that runs the command lines; without it, bash or the system's own."""

    async def bash(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        tail = ""

        def show(new: str) -> None:
            nonlocal tail
            tail = truncate_tail(tail + new).text
            context.update(text_result(tail))

        timeout = arguments.get("timeout")
        outcome = await run_command(
            arguments["command"],
            cwd=context.cwd,
            environment=context.environment,
            shell=shell,
            timeout=timeout,
            on_output=show,
        )
        return _result(outcome, timeout)

    return FunctionTool(spec=_SPEC, access="execute", function=bash)


def _result(outcome: CommandOutcome, timeout: float | None) -> ToolResult:
    notes = [note for note in (_truncation_note(outcome), _ending_note(outcome, timeout)) if note]
    details: JsonObject = {"exitCode": outcome.exit_code, "timedOut": outcome.timed_out, "truncated": outcome.truncated}
    if outcome.full_output_path is not None:
        details["fullOutputPath"] = outcome.full_output_path
    text = _with_notes(outcome.output, notes)
    return text_result(text, details=details) if outcome.exit_code == 0 else error_result(text, details=details)


def _with_notes(output: str, notes: list[str]) -> str:
    # Providers refuse an empty text.
    output = output or "(no output)"
    if not notes:
        return output
    return output + ("\n" if output.endswith("\n") else "\n\n") + "\n".join(notes)


def _truncation_note(outcome: CommandOutcome) -> str:
    kept = outcome.kept
    if not kept.truncated:
        return ""
    shown = f"the end of line {kept.total_lines}" if kept.cuts_line else f"the last {kept.kept_lines}"
    whole = f"{kept.total_lines} lines, {size_text(kept.total_bytes)}"
    return f"[Cut: this is {shown} of {whole}; {_where(outcome.full_output)}]"


def _where(full: FullOutput | None) -> str:
    if full is None:
        return "the rest could not be kept"
    return (
        f"all of it is in {full.path}"
        if full.complete
        else f"the beginning, as far as there was room, is in {full.path}"
    )


def _ending_note(outcome: CommandOutcome, timeout: float | None) -> str:
    if outcome.timed_out:
        return (
            f"[Stopped: the command took longer than the {timeout:g} s it was given. A larger timeout lets it finish.]"
        )
    return f"[Exit code {outcome.exit_code}]" if outcome.exit_code else ""
