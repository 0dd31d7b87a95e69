"""The words that an option takes, by its name. On the path to the first answer of `serve`: nothing is imported here."""

CHOICES: dict[str, tuple[str, ...]] = {
    "permissions": ("read-only", "ask", "workspace", "allow"),
    "thinking": ("off", "minimal", "low", "medium", "high", "xhigh"),
    "framing": ("auto", "lines", "headers"),
    "log_level": ("debug", "info", "warning", "error"),
}
