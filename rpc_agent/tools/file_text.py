"""A file's bytes as text that turns back into exactly the same bytes. Pure."""

import re
from typing import Literal

from msgspec import Struct

from rpc_agent.tools.failure import ToolFailure

Codec = Literal["utf-8", "utf-16-le", "utf-16-be", "latin-1"]

_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS: tuple[tuple[bytes, Codec], ...] = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_UTF32_BOMS = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")

_BREAK = re.compile(r"\r\n|\n")
_OLD_MAC_BREAK = re.compile(r"\r\n|\n|\r")


class FileText(Struct, frozen=True, kw_only=True):
    """`prefix` (a byte order mark) and `suffix` (half a character at the end) are kept out of `text`.

    latin-1 stands for bytes of an encoding that we do not know: each byte is one character, only ASCII means what it
    says.
    """

    text: str
    codec: Codec
    prefix: bytes = b""
    suffix: bytes = b""

    @property
    def encoding_known(self) -> bool:
        return self.codec != "latin-1"

    @property
    def line_break(self) -> re.Pattern[str]:
        """What ends a line here: CR alone does so only in a file that has no other line ends."""
        return _OLD_MAC_BREAK if "\n" not in self.text else _BREAK

    def to_bytes(self, text: str) -> bytes:
        """`text` as this file's encoding writes it, with prefix and suffix."""
        # Other programs leave half pairs in UTF-16; they are not ours to repair.
        errors = "surrogatepass" if self.codec.startswith("utf-16") else "strict"
        return self.prefix + text.encode(self.codec, errors) + self.suffix


def file_text(data: bytes) -> FileText:
    """Raises ToolFailure for wide encodings that cannot be edited without breaking them."""
    if data.startswith(_UTF32_BOMS):
        raise ToolFailure(
            "The file is UTF-32, which cannot be edited here. It was not changed. Convert it to UTF-8 first."
        )
    for bom, codec in _UTF16_BOMS:
        if data.startswith(bom):
            return _utf16(data, bom, codec)
    prefix = _UTF8_BOM if data.startswith(_UTF8_BOM) else b""
    try:
        text = data[len(prefix) :].decode("utf-8")
    except UnicodeDecodeError:
        return FileText(text=data.decode("latin-1"), codec="latin-1")
    if _looks_wide(data):
        raise ToolFailure(
            "The file looks like UTF-16 without a byte order mark, which cannot be edited safely. "
            "It was not changed. Convert it to UTF-8, or add the mark."
        )
    return FileText(text=text, codec="utf-8", prefix=prefix)


def _utf16(data: bytes, bom: bytes, codec: Codec) -> FileText:
    end = len(data) - len(data) % 2
    text = data[len(bom) : end].decode(codec, "surrogatepass")
    return FileText(text=text, codec=codec, prefix=bom, suffix=data[end:])


def _looks_wide(data: bytes) -> bool:
    """ASCII text in UTF-16 has a NUL in every second place, and in no other."""
    sample = data[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    return len(sample) >= 2 and max(even, odd) * 5 >= len(sample) * 2 and min(even, odd) * 20 <= len(sample)
