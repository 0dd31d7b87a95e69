"""What a strict service of any API refuses: bytes that are no JSON, halves of characters, contents that say nothing."""

import binascii
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def refusing(rules: Callable[[Mapping[str, Any]], Iterable[str]]) -> Callable[[bytes], list[str]]:
    """A service with these rules: what it says of a request's body, which is nothing where it accepts it."""

    def refuse(body: bytes) -> list[str]:
        try:
            request = json.loads(body.decode("utf-8"))
        except ValueError as error:
            return [f"not JSON in UTF-8: {error}"]
        return [*_surrogate_faults(request), *rules(request)]

    return refuse


def _surrogate_faults(request: object) -> list[str]:
    # Read and written again, two escapes that are one character are one.
    lone = re.search(r"[\ud800-\udfff]", json.dumps(request, ensure_ascii=False))
    return ["a lone surrogate"] if lone else []


def is_file_data(data: str) -> bool:
    """Whether an image's data is base64 as services read it."""
    try:
        return bool(binascii.a2b_base64(data, strict_mode=True))
    except ValueError:
        return False


def says_nothing(content: object, *, blank_is_nothing: bool = True) -> bool:
    """Whether a content (a text, or parts) is missing, is empty or blank, or has such a text as a part."""
    if isinstance(content, list):
        texts = [part["text"] for part in content if "text" in part]
        return not content or any(says_nothing(text, blank_is_nothing=blank_is_nothing) for text in texts)
    return not isinstance(content, str) or not (content.strip() if blank_is_nothing else content)
