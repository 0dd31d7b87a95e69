"""Where a provider's key comes from: a literal, a variable, or a command's output. Keeps no key longer than it must."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from rpc_agent.errors import AuthMissing
from rpc_agent.platform.process_tree import guarded, guarded_group

_COMMAND_SECONDS = 30
"""A password manager may ask a person; one that waits longer is not going to answer."""


class KeySource(Struct, frozen=True):
    """`value` is the literal, the variable's name or the command; for "none" the provider needs no key."""

    kind: Literal["none", "literal", "variable", "command"]
    value: str = ""

    def is_there(self, environment: Mapping[str, str]) -> bool:
        """Whether a key can be had. A command counts as yes: running it may cost a person's answer."""
        return self.kind != "variable" or bool(environment.get(self.value, "").strip())

    def key(self, provider: str, environment: Mapping[str, str]) -> str:
        """The key, "" where none is needed. Blocks while a command runs. Raises AuthMissing."""
        match self.kind:
            case "variable":
                if key := environment.get(self.value, "").strip():
                    return key
                raise AuthMissing(
                    f"{provider} needs a key: set the variable {self.value}", provider=provider, variable=self.value
                )
            case "command":
                return _run(provider, self.value, environment)
            case _:
                return self.value.strip()


def read_key_source(api_key: str | None, api_key_env: str | None) -> KeySource:
    """`apiKey` and `apiKeyEnv` of models.json."""
    if api_key_env:
        return KeySource("variable", api_key_env)
    if not api_key:
        return KeySource("none")
    if api_key.startswith("!"):
        return KeySource("command", api_key[1:].strip())
    if api_key.startswith("$"):
        return KeySource("variable", api_key[1:].strip("{}"))
    return KeySource("literal", api_key)


def _run(provider: str, command: str, environment: Mapping[str, str]) -> str:
    """The first line that the command prints. Its stdin is empty, so that it cannot read the protocol; it gets a
    session of its own and a guardian, so that it is not left behind, whatever ends us while a person is asked."""
    process = subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=guarded(environment),
        start_new_session=True,
    )
    with process, guarded_group(process.pid):
        try:
            output, _ = process.communicate(timeout=_COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            _kill(process)
            raise AuthMissing(f"the key command of {provider} took longer than {_COMMAND_SECONDS} s") from None
    lines = output.decode("utf-8", "replace").strip().splitlines()
    if process.returncode != 0 or not lines:
        raise AuthMissing(
            f"the key command of {provider} gave no key (exit code {process.returncode}); "
            "run it by hand to see why, or set the key another way",
            provider=provider,
        )
    return lines[0].strip()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform != "win32":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
