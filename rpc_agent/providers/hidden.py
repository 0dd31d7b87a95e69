"""Takes keys out of what a service says: some quote the key they refuse. Pure; knows no key of its own."""

import json
from collections.abc import Iterable
from urllib.parse import quote

_LEAST_SECRET = 6
"""Shorter ones are no secrets, and would tear words apart."""
_MARK = "[key]"


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """`text` with each secret, in any spelling, replaced; also one that the text's end cuts."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        for spelled in _spellings(secret) if len(secret) >= _LEAST_SECRET else ():
            text = _without_cut(text.replace(spelled, _MARK), spelled)
    return text


def _spellings(secret: str) -> list[str]:
    """As it is; as part of an address; as JSON writes it, by itself and where slashes are escaped."""
    in_json = json.dumps(secret)[1:-1]
    return list(dict.fromkeys((secret, quote(secret, safe=""), quote(secret), in_json, in_json.replace("/", "\\/"))))


def _without_cut(text: str, secret: str) -> str:
    """Long texts are cut before they are shown, and the cut may fall into a secret."""
    for kept in range(min(len(secret), len(text)), _LEAST_SECRET - 1, -1):
        if text.endswith(secret[:kept]):
            return text[:-kept] + _MARK
    return text
