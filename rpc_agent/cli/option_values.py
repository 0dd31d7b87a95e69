"""The words that an option takes, by its name. On the path to the first answer of `serve`: nothing is imported here."""

CHOICES: dict[str, tuple[str, ...]] = {
    "permissions": ("read-only", "ask", "workspace", "allow"),
    "thinking": ("off", "minimal", "low", "medium", "high", "xhigh"),
    "framing": ("auto", "lines", "headers"),
    "log_level": ("debug", "info", "warning", "error"),
}

TOOLS = ("read", "write", "edit", "bash", "grep", "find", "ls")
"""What `--tools` may name. A client's own tools are offered beside them, whatever it says."""


def tool_names(value: str) -> tuple[str, ...]:
    """The names in "A,B". Raises ValueError with a sentence about a name that no tool has."""
    names = tuple(part.strip() for part in value.split(",") if part.strip())
    for name in names:
        if name not in TOOLS:
            raise ValueError(f"--tools: there is no tool {name!r}; there are {', '.join(TOOLS)}")
    return names
