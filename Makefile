# Every target builds its own virtual environment as needed; only Python 3.11, pip and make are assumed.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.dev-ready
EXPORTS := .venv-exports
EXPORTS_READY := $(EXPORTS)/.ready
DOCS := .venv-docs
DOCS_READY := $(DOCS)/.ready
BROWSER := .venv-browser
BROWSER_READY := $(BROWSER)/.ready
WHEEL := .venv-wheel
# Users get ranges of versions (pyproject.toml); here everything is what it was tested with.
INSTALL := -I -m pip install --quiet --disable-pip-version-check -c constraints.txt
JOBS ?= 2
# One thread per worker: two workers share two cores. Bytecode is kept, whatever a machine is set to: the tests
# start many processes, and each would compile the library anew.
TEST_ENV := OMP_NUM_THREADS=1 PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=
PYTEST := $(TEST_ENV) $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not exports and not browser"

COQ := Model Logic Sums Lead SignHead Cases Rationals Meanings Scores Reads Heads Checker Axioms

.PHONY: help demo prove check test test-all test-slow test-exports test-browser test-wheel gallery docs mutate bench clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  \1: \2/'

# torch first and pinned: a later resolve would otherwise be free to pick another build of it.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) torch
	$(BIN)/python $(INSTALL) -e ".[torch]"
	touch $@

$(DEV_READY): $(READY)
	$(BIN)/python $(INSTALL) -e ".[dev]"
	touch $@

$(EXPORTS_READY): pyproject.toml constraints.txt
	test -x $(EXPORTS)/bin/python || $(PYTHON) -m venv $(EXPORTS)
	$(EXPORTS)/bin/python $(INSTALL) torch
	$(EXPORTS)/bin/python $(INSTALL) -e ".[dev-exports]"
	touch $@

# What makes the site, and what the tutorials import.
$(DOCS_READY): pyproject.toml constraints.txt
	test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python $(INSTALL) torch
	$(DOCS)/bin/python $(INSTALL) -e ".[docs]"
	touch $@

# A browser's driver and what `attemper play` needs, in an environment of their own: tests alone need it.
$(BROWSER_READY): pyproject.toml constraints.txt
	test -x $(BROWSER)/bin/python || $(PYTHON) -m venv $(BROWSER)
	$(BROWSER)/bin/python $(INSTALL) torch
	$(BROWSER)/bin/python $(INSTALL) -e ".[dev-browser]"
	touch $@

demo: $(READY) ## compile the well-known languages and run real words through them
	$(BIN)/python -m attemper.workbench.demo

check: $(DEV_READY) ## formatting, lint, types, import contracts, and how much must be trusted
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(TEST_ENV) $(BIN)/python -m tests.support.writers.trust

test: check ## check, then the quick suite: a few cases of every sweep, and the doc examples
	$(PYTEST) --suite quick

test-all: check ## check, then every case of every sweep, and the doc examples
	$(PYTEST) --suite all

test-slow: $(DEV_READY) ## the longest sweeps
	ATTEMPER_HYPOTHESIS=deep $(PYTEST) --suite slow

test-exports: $(EXPORTS_READY) ## networks in the libraries that they are exported to (some hundred MB)
	$(TEST_ENV) $(EXPORTS)/bin/python -m pytest -q -m exports tests

test-wheel: $(DEV_READY) ## the package as users install it, in a fresh environment: without torch, then with
	rm -rf build dist $(WHEEL)
	$(BIN)/python -I -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w dist .
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python $(INSTALL) dist/attemper-*.whl
	cd dist && ../$(WHEEL)/bin/python -I ../tests/support/cli/wheel_tour.py without-torch
	$(WHEEL)/bin/python $(INSTALL) torch
	$(WHEEL)/bin/python $(INSTALL) "$$(echo dist/attemper-*.whl)[torch]"
	cd dist && ../$(WHEEL)/bin/python -I ../tests/support/cli/wheel_tour.py with-torch

prove: ## the checker of networks of past formulas, proved right in Coq: builds it, checks it again, prints its axioms
	@command -v coqc > /dev/null || { [ "$(INSTALL_COQ)" = 1 ] && apt-get install --no-install-recommends -y coq; } || \
	  { echo "Coq is not there: apt-get install --no-install-recommends coq (1 GB), or make prove INSTALL_COQ=1"; exit 2; }
	cd coq && for file in $(COQ); do coqc -Q . Attemper $$file.v || exit 1; done
	cd coq && coqchk -silent -Q . Attemper Attemper.Checker

mutate: $(DEV_READY) ## change the checker's code place by place: a test must notice each change (slow)
	$(TEST_ENV) $(BIN)/python -m tests.mutation

bench: $(DEV_READY) ## comparisons side by side, in one run
	$(BIN)/python -m benchmarks

gallery: $(DEV_READY) ## write docs/gallery, docs/figures, and pages of all the zoo, in build/zoo: they run networks in a browser
	$(TEST_ENV) $(BIN)/python -m tests.support.writers.gallery
	$(TEST_ENV) $(BIN)/python -m tests.support.writers.figures
	$(TEST_ENV) $(BIN)/python -m attemper.workbench.zoo_pages build/zoo

docs: $(DOCS_READY) ## the site, in build/site: every warning is an error (1.8 GB of libraries)
	$(TEST_ENV) NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --strict

test-browser: $(BROWSER_READY) ## the page in a real browser: the Chromium of CHROMIUM=path, or on PATH
	$(TEST_ENV) $(BROWSER)/bin/python -m pytest -q -m browser tests/exports/browser

clean: ## remove virtual environments, what was built, and caches
	rm -f coq/*.vo coq/*.vok coq/*.vos coq/*.glob coq/.*.aux
	rm -rf $(VENV) $(EXPORTS) $(DOCS) $(BROWSER) $(WHEEL) build dist src/attemper.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .mutation
