"""One target under a coverage-guided fuzzer, until it fails or has had its runs. A process of its own: the fuzzer ends it.

`python -m tests.fuzz.guided TARGET [options of libFuzzer] CORPUS`
"""

import importlib
import sys

import atheris


def main() -> None:
    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=["rpc_agent"]):
        tested = importlib.import_module(f"tests.fuzz.{name}")
    atheris.Setup(sys.argv, tested.check)
    atheris.Fuzz()


main()
