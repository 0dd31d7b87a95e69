# Every target works on a fresh machine: it makes .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test bench fmt check types lint contract

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("rpc-agent needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=/path/to/python3.") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . --group dev
	@touch $@

demo: setup
	$(BIN)/rpc-agent demo

# What CI runs: the checks that cost seconds first.
test: setup check
	$(BIN)/python -m pytest

check: lint types contract

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The platform modules differ by system, so the types are checked as each system sees them.
types: setup
	$(BIN)/mypy
	$(BIN)/mypy --platform win32
	$(BIN)/mypy --platform darwin

contract: setup
	$(BIN)/python -m rpc_agent.protocol.export --check

bench: setup
	$(BIN)/python -m bench

fmt: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
