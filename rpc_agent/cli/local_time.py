"""Times as the clock on the person's wall shows them. Asks the system for its time zone and nothing else."""

from datetime import datetime


def local_time(timestamp: str) -> str:
    """An ISO time with its zone, to the minute."""
    return datetime.fromisoformat(timestamp).astimezone().strftime("%Y-%m-%d %H:%M")
