# Everything that is done with this repository, by name. `make help` lists it.
# Needs python3 (3.11 or later) and make; a uv on PATH is used, otherwise one is put in .tools/.

PYTHON ?= python3
UV := $(shell if uv --version >/dev/null 2>&1; then command -v uv; else echo .tools/bin/uv; fi)
BIN := .venv/bin
INSTALLED := .venv/.installed

# What `make run` evaluates, and further flags for `run` and `test`.
REQUEST ?= Evaluate the bundled oracle, null and echo agents on five airline tasks, five retail tasks and five telecom tasks
ARGS ?=
RUN_ARGS ?= --offline
# Processes that tests are spread over; 0 runs them in one.
WORKERS ?= 3

export REQUEST
# Never fetch an interpreter from the internet: the machine's own serves.
export UV_PYTHON_DOWNLOADS ?= never
# Where no bytecode is kept, every process compiles all that it imports again: five seconds each.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test test_all ruff lint type_check imports lock_check validate docs build bench lock clean

help:  ## List the targets
	@grep -hE '^[a-z_]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z_]+):.*## /\1\t/' | expand -t 14

setup: $(INSTALLED)  ## Make .venv with the pinned packages and .venv/bin/greenroom

$(INSTALLED): pyproject.toml requirements.lock | $(UV)
	$(UV) venv --quiet --allow-existing $(if $(filter-out python3,$(PYTHON)),--python $(PYTHON)) .venv
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@

.tools/bin/uv: scripts/bootstrap.py
	$(PYTHON) scripts/bootstrap.py

run: setup  ## Evaluate the bundled agents offline (REQUEST="..." for something else)
	$(BIN)/greenroom run "$$REQUEST" $(RUN_ARGS)

test: setup  ## Run all tests (ARGS="-k word" for some, WORKERS=0 for one process)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS)

test_all: test  ## The same as test

ruff: setup  ## Fix what ruff can fix, and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lint: setup  ## Check style and format, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type_check: setup  ## Check types
	$(BIN)/mypy

imports: setup  ## Check that packages import each other only along the arrows
	$(BIN)/lint-imports

lock_check: setup  ## Check that the locks fit pyproject.toml
	$(BIN)/pytest -q -p no:cacheprovider tests/test_lock.py

validate: lint type_check imports lock_check  ## All checks but the tests; changes nothing
	@site=$$(mktemp -d) && trap 'rm -rf "$$site"' EXIT && \
	  $(BIN)/mkdocs build --quiet --strict --site-dir "$$site" && echo "docs: built without a warning"

docs: setup  ## Build the documentation into site/, warnings being errors
	$(BIN)/mkdocs build --strict

build: setup  ## Build the wheel and the source archive into dist/
	$(UV) build

bench: setup  ## Run the scripts in performance/
	@set -e; for script in performance/[a-z]*.py; do \
	  echo "== $$script"; $(BIN)/python "$$script"; \
	done

lock: | $(UV)  ## Resolve pyproject.toml again and write both locks (needs the network)
	$(UV) lock
	$(UV) export --frozen --quiet --all-extras --all-groups --no-emit-project --no-header \
	  --format requirements.txt --output-file requirements.lock
	$(UV) export --frozen --quiet --all-extras --no-default-groups --no-emit-project --no-header \
	  --format requirements.txt --output-file requirements-runtime.lock

clean:  ## Remove caches and what was built (not .venv, .tools and results)
	rm -rf dist site .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find . -name __pycache__ -not -path './.venv/*' -not -path './.tools/*' -prune -exec rm -rf {} +
