"""Orders that change the machine: only an explicit imperative, with what it acts on spelt out. Pure."""

import re

from rpc_agent.providers.offline.phrases import Phrase
from rpc_agent.providers.offline.wishes import ReplaceText, RunCommand, Wish, WriteFile

_RUN = re.compile(r"(?:run|execute|exec|bash|shell)(?::|\s+the\s+command:?|(?=\s+`))\s*(?P<command>\S.*)", re.I | re.S)
_DOLLAR = re.compile(r"\$\s+(?P<command>\S.*)", re.S)

_NAME = r"(?:`(?P<tick>[^`]+)`|\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)'|(?P<bare>\S+?))"
_WRITE = re.compile(
    rf"(?:write|save|put)\s+(?P<content>.+)\s+(?:in)?to\s+(?:the\s+)?(?:new\s+)?(?:file\s+)?{_NAME}\.?\s*", re.I | re.S
)
_CREATE = re.compile(
    rf"(?:create|write|make)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?{_NAME}"
    r"(?:\s+with\s+(?:the\s+)?(?:contents?|text)?:?|\s+containing:?|:)\s*(?P<content>\S.*)",
    re.I | re.S,
)
_REPLACE = Phrase("(replace|change) {old} (with|by|to) {new} in [the] [file] {path}")


def read_order(text: str) -> Wish | None:
    if found := _RUN.fullmatch(text) or _DOLLAR.fullmatch(text):
        return RunCommand(_unquoted(found["command"].strip()))
    if slots := _REPLACE.match(text):
        return ReplaceText(slots["path"], slots["old"], slots["new"])
    if found := _WRITE.fullmatch(text):
        return WriteFile(_name(found), _unquoted(found["content"]))
    if (found := _CREATE.fullmatch(text)) and looks_like_file(_name(found)):
        return WriteFile(_name(found), _unquoted(found["content"].strip()))
    return None


def looks_like_file(name: str) -> bool:
    """Whether a name has an ending, or is one of the well-known ones without."""
    last = re.split(r"[/\\]", name)[-1]
    return bool(re.search(r"[^.]\.\w{1,12}$|^\.\w{2,}$", last)) or last in _FILES_WITHOUT_ENDING


_FILES_WITHOUT_ENDING = frozenset(
    {"README", "LICENSE", "Makefile", "Dockerfile", "CHANGELOG", "NOTICE", "AUTHORS", "Procfile", "Justfile"}
)


def _name(found: re.Match[str]) -> str:
    return found["tick"] or found["double"] or found["single"] or found["bare"]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "`\"'" else text
