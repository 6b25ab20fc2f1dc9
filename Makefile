# Every target that needs the environment brings it up to date first; `make` alone prints this list.
.DEFAULT_GOAL := help
.PHONY: help setup run test check bench docs soak clean environment bench-environment

# The first Python that is new enough; override with `make PYTHON=/path/to/python`.
PYTHON ?= $(firstword $(foreach p,python3 python3.11 python3.12 python3.13 python3.14,\
	$(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Wheels only: a pinned version that has none for this machine is told by its name, not compiled.
PIP_INSTALL := $(PIP) install --only-binary :all: -c constraints.txt
# Several shells may call make at once: one of them installs, the others wait (where flock exists).
LOCK := $(shell command -v flock >/dev/null 2>&1 && echo flock .make-lock)
C_SOURCES := $(wildcard src/supple/kernels/*.c src/supple/kernels/*.h)

# One BLAS thread each: pytest-xdist already uses every core.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MPLBACKEND := Agg

help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: ## create or update .venv: supple (editable), its extras and the tools
	@$(LOCK) $(MAKE) --no-print-directory environment

run: setup ## take the tour; everything it draws and writes goes to tour/
	$(BIN)/supple tour --out tour

test: setup ## every test but the soak tests, documentation included
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not soak"

check: setup ## formatting, lint, types, import layers and the fast tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not soak"

bench: setup ## time supple beside other engines, and write docs/performance.md
	@$(LOCK) $(MAKE) --no-print-directory bench-environment
	$(BIN)/python -m bench --page docs/performance.md

docs: setup ## build the documentation into build/docs; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

soak: setup ## the long runs: fuzzing, large sweeps, simulated days, public robots
	$(PIP_INSTALL) --no-build-isolation -e '.[dev,robots]' || echo "the public URDFs are not there: their tests are skipped"
	$(BIN)/python -m pytest -m soak

clean: ## remove what was built, and .venv
	rm -rf $(VENV) build dist tour src/*.egg-info src/supple/kernels/*.so
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .make-lock

environment: $(VENV)/.stamp-build
	@:

bench-environment: $(VENV)/.stamp-bench
	@:

$(VENV)/.stamp-tools: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "supple needs Python 3.11 or newer; none was found" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) setuptools
	@touch $@

# Without build isolation the pinned setuptools is used and nothing else is downloaded.
$(VENV)/.stamp-install: $(VENV)/.stamp-tools setup.py
	$(PIP_INSTALL) --no-build-isolation -e '.[dev]'
	@touch $@

# Byte code too: a first command should not spend its second on compiling Python.
$(VENV)/.stamp-build: $(VENV)/.stamp-install $(C_SOURCES)
	$(BIN)/python setup.py --quiet build_ext --inplace
	$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.stamp-bench: $(VENV)/.stamp-install
	$(PIP_INSTALL) --no-build-isolation -e '.[dev,bench]'
	@touch $@
