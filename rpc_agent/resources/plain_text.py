"""The text in a file that somebody wrote for agents, by whichever editor and system. Pure."""

import codecs


def decoded(data: bytes, *, is_cut: bool = False) -> str | None:
    """None for what is no text; of a file that `is_cut` the last character may be half."""
    # The shell of Windows writes UTF-16 where a file is made with `>`.
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = data.decode("utf-16" if is_wide else "utf-8-sig", "ignore" if is_cut else "replace")
    return None if "\0" in text else text.replace("\r\n", "\n").replace("\r", "\n")
