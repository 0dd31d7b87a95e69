"""The only clock and the only source of ids."""

import os
import secrets
import time
import uuid
from datetime import UTC, datetime


class SystemIdentity:
    """Times in UTC; ids from the system's randomness."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def now_iso(self) -> str:
        """ISO 8601 with milliseconds and Z, as the session file wants it."""
        return iso_time(self.now_ms())

    def monotonic(self) -> float:
        return time.monotonic()

    def draw_id(self, hex_digits: int = 8) -> str:
        return secrets.token_hex(hex_digits // 2)

    def full_id(self) -> str:
        return str(uuid.uuid4())

    def session_id(self) -> str:
        """A version 7 UUID: sorts by time, as session file names do."""
        stamp = self.now_ms().to_bytes(6, "big")
        raw = bytearray(stamp + os.urandom(10))
        raw[6] = raw[6] & 0x0F | 0x70
        raw[8] = raw[8] & 0x3F | 0x80
        return str(uuid.UUID(bytes=bytes(raw)))


def iso_time(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"
