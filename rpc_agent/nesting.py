"""How deep JSON goes. Pure, and never calls itself: Python ends below a thousand calls, and so do writers of JSON."""


def is_deeper(value: object, levels: int) -> bool:
    """Whether objects and arrays lie in one another more than `levels` deep."""
    level = [value]
    for _ in range(levels):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [item for items in inner for item in items if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def may_be_deeper(text: bytes, levels: int) -> bool:
    """False where a look at the JSON shows that it is not: much faster than following it."""
    return len(text) > 2 * levels and text.count(b"[") + text.count(b"{") > levels
