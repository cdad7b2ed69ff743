# Every target sets up what it needs; see .ci/bootstrap.py. Choose a Python with PYTHON=...

PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
SETUP_INPUTS := pyproject.toml .ci/bootstrap.py
# The models of the tests are small: a second thread costs them more than it brings.
TEST_ENVIRONMENT := QT_QPA_PLATFORM=offscreen OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help run setup test lint bench bundle clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

run: $(VENV)/.runtime ## open the window
	@$(BIN)/python main.py $(ARGS)

setup: $(VENV)/.development ## everything to work on the code

test: lint ## set up, lint, check types, run the tests
	$(TEST_ENVIRONMENT) $(BIN)/python -m pytest -q --numprocesses auto --dist worksteal

lint: $(VENV)/.development ## style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.peers ## measure; ONLY="startup decoding" selects
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.benchmarks $(ONLY)

bundle: $(VENV)/.bundle ## make a program that needs no Python, in dist, and try it
	$(BIN)/python resources/packaging/bundle.py

clean: ## remove the environment, caches and builds
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.runtime: $(SETUP_INPUTS)
	@$(require-python)
	@$(PYTHON) .ci/bootstrap.py
	@touch $@

$(VENV)/.development: $(SETUP_INPUTS)
	@$(require-python)
	@$(PYTHON) .ci/bootstrap.py --dev
	@touch $@ $(VENV)/.runtime

$(VENV)/.peers: $(VENV)/.development
	@$(BIN)/python -m pip install --quiet --editable ".[bench]"
	@touch $@

$(VENV)/.bundle: $(VENV)/.runtime
	@$(BIN)/python -m pip install --quiet --editable ".[bundle]"
	@touch $@

define require-python
$(if $(PYTHON),,echo "No Python 3.11 or newer was found: install one, or name it: make PYTHON=/path/to/python" >&2; exit 1)
endef
