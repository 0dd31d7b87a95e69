"""What a prompt asks for, as far as fixed rules can tell. Pure: looks at no file, calls nothing.

The rules are about the words around the thing that is named, so any file, folder, text or command can be named.
"""

import re
from collections.abc import Callable

from rpc_agent.providers.offline.orders import looks_like_file, read_order
from rpc_agent.providers.offline.phrases import Phrase, Slots
from rpc_agent.providers.offline.wishes import FindFiles, Introduce, ListFolder, ReadFile, SearchText, Wish


def understand(prompt: str) -> list[Wish]:
    """The wishes in a prompt, in order; empty when it is not understood whole."""
    wish = _understand_one(prompt)
    if wish is not None or len(prompt) > _LONGEST_PROMPT:
        return [wish] if wish is not None else []
    parts = [_understand_one(part) for part in _BETWEEN_CLAUSES.split(prompt) if part.strip()]
    wishes = [part for part in parts if part is not None]
    return wishes if len(parts) > 1 and len(wishes) == len(parts) else []


_LONGEST_PROMPT = 2_000
"""Longer ones hold something pasted in, and no rule here would read its parts rightly."""
_BETWEEN_CLAUSES = re.compile(
    r"\n+|;\s*|,?\s+(?:and\s+)?then\s+|(?<=[.?!])\s+"
    r"|,?\s+and\s+(?=(?:list|read|show|find|search|run|open|cat|ls|grep|write|tell)\b)",
    re.I,
)
_POLITE = re.compile(
    r"(?:(?:please|hey|hi|ok|okay|now|so|and|also|thanks)[,!. ]+)*"
    r"(?:(?:can|could|would|will)\s+you\s+|i(?:'d| would)\s+like\s+you\s+to\s+|i\s+want\s+you\s+to\s+|let's\s+)?"
    r"(?:please\s+)?",
    re.I,
)


def _understand_one(text: str) -> Wish | None:
    text = text.strip()
    rest = text[match.end() :].strip() if (match := _POLITE.match(text)) else text
    order = read_order(rest)
    if order is not None:
        return order
    for phrase, meaning in _RULES:
        slots = phrase.match(rest) or phrase.match(text)
        wish = meaning(slots) if slots is not None else None
        if wish is not None:
            return wish
    return None


_HERE = frozenset(
    [
        "here",
        "there",
        ".",
        "this",
        "that",
        "current",
        "project",
        "repo",
        "repository",
        "workspace",
        "folder",
        "directory",
        "it",
        "all",
        "everything",
        "any",
    ]
)
_NOT_NAMES = _HERE | frozenset(
    ["file", "files", "for", "at", "in", "the", "a", "an", "me", "is", "are", "contents", "content"]
)
_ENDINGS = {
    "python": "*.py", "markdown": "*.md", "text": "*.txt", "json": "*.json", "javascript": "*.js", "typescript": "*.ts",
    "rust": "*.rs", "go": "*.go", "c": "*.c", "java": "*.java", "html": "*.html", "css": "*.css", "yaml": "*.yaml",
    "toml": "*.toml", "shell": "*.sh", "csv": "*.csv",
}  # fmt: skip


def _place(slots: Slots) -> str:
    place = slots.get("place", "")
    return "." if not place or place.lower() in _HERE or _is_glob(place) else place


def _place_glob(slots: Slots) -> str:
    place = slots.get("place", "")
    return place if _is_glob(place) else ""


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


def _kind_glob(word: str) -> str:
    """The glob for a kind of file, as in "python files", "*.py files", ".py files"."""
    if _is_glob(word):
        return word
    return _ENDINGS.get(word.lower(), f"*{word}" if re.fullmatch(r"\.\w+", word) else "")


def _listing(slots: Slots) -> Wish | None:
    place = slots.get("place", "")
    if _is_glob(place):
        return FindFiles(place)
    return ListFolder(_place(slots))


def _folder_or_file(slots: Slots) -> Wish | None:
    place = slots["place"]
    return ReadFile(place) if looks_like_file(place) else _listing(slots)


def _reading(slots: Slots) -> Wish | None:
    return None if slots["path"].lower() in _NOT_NAMES else ReadFile(slots["path"])


def _reading_of_file(slots: Slots) -> Wish | None:
    return ReadFile(slots["path"]) if looks_like_file(slots["path"]) and not _is_glob(slots["path"]) else None


def _search(slots: Slots) -> Wish | None:
    if slots["text"].lower() in _NOT_NAMES:
        return None
    return SearchText(slots["text"], _place(slots), _place_glob(slots))


def _search_names(slots: Slots) -> Wish | None:
    glob = _kind_glob(slots.get("kind") or "") or _place_glob(slots)
    return SearchText(slots["text"], _place(slots), glob)


def _search_or_find(slots: Slots) -> Wish | None:
    """ "find X": a file when X looks like one, else a text."""
    name = slots["text"]
    if _place_glob(slots):
        return _search(slots)
    if _is_glob(name) or looks_like_file(name):
        return FindFiles(name, _place(slots))
    return _search(slots)


def _find_kind(slots: Slots) -> Wish | None:
    glob = _kind_glob(slots["kind"])
    return FindFiles(glob, _place(slots)) if glob else None


def _find_named(slots: Slots) -> Wish | None:
    return FindFiles(slots["glob"], _place(slots))


def _find_ending(slots: Slots) -> Wish | None:
    ending = slots["glob"]
    return FindFiles(ending if _is_glob(ending) else f"*{ending}", _place(slots))


def _find_glob(slots: Slots) -> Wish | None:
    return FindFiles(slots["glob"], _place(slots)) if _is_glob(slots["glob"]) else None


_SHOW = "(list|show|print|give|display|tell)"
_FILES = "(file|files|folder|folders|directory|directories|things)"
_MENTION = "(mention|mentions|mentioning|contain|contains|containing|use|uses|using|have|has|include|includes|with)"

_RULES: tuple[tuple[Phrase, Callable[[Slots], Wish | None]], ...] = tuple(
    (Phrase(source), meaning)
    for source, meaning in (
        ("(hello|hi|hey|help|good_morning|good_evening) [there|me]", lambda slots: Introduce()),
        ("(who|what) (are|is) (you|this_model)", lambda slots: Introduce()),
        ("(what|which) (can|do|model) [are] you [do|run|use]", lambda slots: Introduce()),
        (f"(which|what|list|find|show) [me] [all] [the] [{{kind}}] (file|files) [that|which] {_MENTION} [the]"
         " [word|text|string] {text} @in", _search_names),
        ("in (which|what) (file|files) (is|are|does) {text} [used|mentioned|defined|appear|occur]", _search_names),
        ("(find|locate|show|list) [me] [all|every|any] [the] (use|uses|occurrence|occurrences|mention|mentions|"
         "reference|references|line|lines) (of|to|with|containing|mentioning) [the] [word|text] {text} @in", _search),
        ("(find|locate|search|search_for) [me] [for] [all] [the|any] (file|files) (called|named|matching|like)"
         " {glob} @in", _find_named),
        ("(find|locate|list|show) [me] [all] [the|any] (file|files) [that|which] (end|ending|ends) (in|with) {glob}"
         " @in", _find_ending),
        ("(find|locate|list|show|which|what|are_there) [me] [all|any] [the] {kind} (file|files) [are|exist|do_we_have]"
         " [there] [here] @in", _find_kind),
        ("(find|locate|list|ls|show) [me] [all] [the] {glob} @in", _find_glob),
        ("(find|locate) [the] (word|text|string|phrase) {text} @in", _search),
        ("(search|grep|scan|look_for|find_me) [all|through|in] [the] [file|files|code|project|repo|everything] [for]"
         " [the] [word|text|string|phrase] {text} @in", _search),
        ("(search|look|grep|scan) [in|through|inside] [the] [folder|file|directory] {place} for [the]"
         " [word|text|string|phrase] {text}", _search),
        ("where (is|are) [the] [file] {text} [used|defined|mentioned|called|declared|set] @in", _search_or_find),
        (f"{_SHOW} [me] [all] [of] [the|every|my] {_FILES} [and] [folders|files|directories] [here|there] @in [here]",
         _listing),
        (f"{_SHOW} [me] [all] [the] (content|contents) (of|in) [the] [folder|directory|file] {{place}}"
         " [folder|directory|file]", _folder_or_file),
        (f"{_SHOW} [me] [all] [the] (content|contents) [here]", _listing),
        (f"(what|which) [other] {_FILES} [are|is|do_we_have|do_you_see|can_you_see|exist|live|lie] [there] [here] @in"
         " [here]", _listing),
        ("(what|what's|whats) [is|are] [there] (in|inside|under) [the] [folder|directory|file] {place}"
         " [folder|directory|file]", _folder_or_file),
        ("(what|what's|whats) [is|are] [there] here", _listing),
        ("(what|which) (does|do) [the] (folder|directory) {place} (contain|hold|have)", _listing),
        ("how_many files [are|is] [there] [here] @in [here]", _listing),
        ("(ls|dir) [-l|-a|-la|-al] [{place}]", _listing),
        ("list @in", _listing),
        ("list [the] {place} [folder|directory|dir]", _listing),
        ("(look_around|explore|show_me_around) [this|the] [project|folder|repo|repository|directory]", _listing),
        ("tell me about (this|the) (project|folder|repo|repository|directory)", _listing),
        ("(find|locate) [the] [file] {text} @in", _search_or_find),
        ("(read|open|cat|view|print|type|head) [me] [out] [the] [contents_of|content_of|text_of] [the] [file] {path}"
         " [file] [to_me|for_me|aloud]", _reading),
        ("(show|display|give|tell) [me] [what_is_in|what's_in] [the] [contents_of|content_of|text_of] [the] [file]"
         " {path} [file]", _reading_of_file),
        ("(show|display) [me] [the] (contents_of|content_of|text_of) [the] [file] {path}", _reading),
        ("what (does|do) [the] [file] {path} (say|contain|hold|look_like)", _reading),
        ("what is written in [the] [file] {path}", _reading),
        ("(summarise|summarize|explain|describe) [the] [file] {path}", _reading_of_file),
    )
)  # fmt: skip
