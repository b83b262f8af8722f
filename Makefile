# Every target builds its own virtual environment as needed; only Python 3.11, pip and make are assumed.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.dev-ready
BROWSER := .venv-browser
BROWSER_READY := $(BROWSER)/.ready
JOBS ?= 2
# One thread per worker: two workers share two cores.
TEST_ENV := OMP_NUM_THREADS=1 PYTHONHASHSEED=0

.PHONY: help demo check test test-slow test-browser gallery mutate bench clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  \1: \2/'

# torch first and pinned: a later resolve would otherwise be free to pick another build of it.
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(DEV_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@

# A browser's driver and what `attemper play` needs, in an environment of their own: tests alone need it.
$(BROWSER_READY): pyproject.toml
	test -x $(BROWSER)/bin/python || $(PYTHON) -m venv $(BROWSER)
	$(BROWSER)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BROWSER)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[dev,play]" playwright==1.65.2
	touch $@

demo: $(READY) ## compile the well-known languages and run real words through them
	$(BIN)/python -m attemper.workbench.demo

check: $(DEV_READY) ## formatting, lint, types, import contracts, and how much must be trusted
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(TEST_ENV) $(BIN)/python -m tests.support.statements

test: check ## check, then all tests and doc examples
	$(TEST_ENV) $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not slow"

test-slow: $(DEV_READY) ## the long sweeps
	$(TEST_ENV) ATTEMPER_HYPOTHESIS=deep $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m slow

mutate: $(DEV_READY) ## change the checker's code place by place: a test must notice each change (slow)
	$(TEST_ENV) $(BIN)/python -m tests.mutation

bench: $(DEV_READY) ## comparisons side by side, in one run
	$(BIN)/python -m benchmarks

gallery: $(DEV_READY) ## write the pages of docs/gallery, which run networks in a browser
	$(TEST_ENV) $(BIN)/python -m tests.support.gallery

test-browser: $(BROWSER_READY) ## the page in a real browser: the Chromium of CHROMIUM=path, or on PATH
	$(TEST_ENV) $(BROWSER)/bin/python -m pytest -q -m browser tests/exports/browser

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) $(BROWSER) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .mutation
