"""What a strict service of any API refuses: bytes that are no JSON, halves of characters, contents that say nothing."""

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


def says_nothing(content: object) -> bool:
    """Whether a content (a text, or parts) is missing, is blank, or has a blank text as a part."""
    if isinstance(content, list):
        return not content or any("text" in part and not part["text"].strip() for part in content)
    return not isinstance(content, str) or not content.strip()
