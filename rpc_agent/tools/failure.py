"""How a tool gives up in the middle of its work: with a sentence for the model."""

import os


class ToolFailure(Exception):
    """The call cannot be done. The text says what happened, why, and what to do next; `details` are for a front end."""

    def __init__(self, message: str, *, details: object = None) -> None:
        super().__init__(message)
        self.details = details


def failure_text(error: OSError) -> str:
    """What the system refused, in its words, without our insides."""
    reason = error.strerror or type(error).__name__
    # A number stands there when the call was about an open file.
    named = isinstance(error.filename, str | bytes | os.PathLike)
    return f"{os.fsdecode(error.filename)}: {reason}" if named else reason
