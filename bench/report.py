"""Rows of figures for people, and where the progress goes. Measures nothing."""

import sys


def row(name: str, figure: str, ratio: str = "") -> None:
    print(f"{name:<52} {figure:>14}  {ratio}", flush=True)


def progress(what: str) -> None:
    print(f"measuring {what} ...", file=sys.stderr, flush=True)


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"
