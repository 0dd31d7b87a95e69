"""How long a service is waited for. Data; knows no HTTP library, so that reading it loads none."""

from collections.abc import Mapping

from msgspec import Struct


class Timeouts(Struct, frozen=True, kw_only=True):
    """Seconds."""

    connect: float = 10.0
    """A reachable host answers a TCP and TLS handshake within a few; more means a wrong address or a dead network."""
    idle: float = 300.0
    """Between bytes, and before the first: models think for minutes, but a stream silent this long has stalled."""
    write: float = 60.0
    """For one piece of the request: a slow uplink with images needs tens."""
    after_end: float = 5.0
    """Once an answer's end was said only counts are due; some servers then neither send nor close."""


_NO_LIMIT = 7 * 86_400.0
"""Nobody waits longer, and clocks can count so far."""


def read_timeouts(raw: Mapping[str, int]) -> Timeouts:
    """`timeouts` of models.json, already checked: `connectMs` and `idleMs`, 0 for no limit."""
    given = {name: raw[f"{name}Ms"] for name in ("connect", "idle") if f"{name}Ms" in raw}
    seconds = {name: value / 1000 if value else _NO_LIMIT for name, value in given.items()}
    return Timeouts(**seconds)
