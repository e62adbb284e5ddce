# Everything starts from nothing but python3 (3.10 or newer) and make: the first target that needs the
# environment makes .venv, a second run finds it finished. It is made anew when what it is built from changes.

TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin
BUILT_FROM := pyproject.toml setup.py $(wildcard src/stepscope/trace/core/*)
READY := $(VENV)/.installed-$(shell cat $(BUILT_FROM) | cksum | cut -d' ' -f1)
PYTEST ?=
NOTEBOOKS ?= cache
export TORCH

.PHONY: help demo test notebooks quick check format docs dist test-pythons fuzz fuzz-guided bench clinic clean

help:
	@echo "make demo          train a small model through a slow loader and diagnose it"
	@echo "make test          all tests"
	@echo "make notebooks     the tutorial's notebooks from top to bottom, with their solutions (minutes)"
	@echo "make quick         the tests that take no seconds, under two minutes"
	@echo "make check         ruff, mypy --strict, import-linter, formatting"
	@echo "make format        let ruff mend formatting and the simple findings"
	@echo "make docs          the documentation site, its notebooks executed, its links checked"
	@echo "make dist          wheel and sdist, and a proof that the wheel alone works"
	@echo "make test-pythons  the tests without torch under every Python 3.10 to 3.13 found"
	@echo "make clinic        planted bottlenecks: named, predicted, measured (minutes)"
	@echo "make fuzz          100,000 damaged traces (FUZZ='--seconds 60' for less)"
	@echo "make fuzz-guided   damage led by coverage, with atheris (SECONDS=60 for less than ten minutes)"
	@echo "make bench         speed and memory beside other tools (BENCH=small|full)"
	@echo "make clean         remove what these targets made, the environments too"

$(READY): $(BUILT_FROM)
	scripts/make-venv $(VENV) "$$(scripts/find-python)" dev "$(TORCH)"
	@rm -f $(VENV)/.installed-*
	@touch $@

demo: $(READY)
	$(BIN)/stepscope demo

test: $(READY)
	@# Both parts run, whatever comes of the first; status 5 says that PYTEST chose none of the second.
	$(BIN)/python -m pytest -n auto -m "not alone and not notebook" $(PYTEST); first=$$?; \
	$(BIN)/python -m pytest -m alone $(PYTEST) || [ $$? -eq 5 ] && exit $$first

notebooks: $(READY)
	$(BIN)/python -m pytest -m notebook $(PYTEST)

quick: $(READY)
	$(BIN)/python -m pytest -q -n auto -m "not slow" $(PYTEST)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)
	NOTEBOOKS=$(NOTEBOOKS) $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python scripts/check_links.py docs/_build/html
	$(BIN)/python scripts/check_accessible.py docs/_build/html
	scripts/print-handout docs/_build/html

dist: $(READY)
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	scripts/check-wheel

test-pythons: $(READY)
	scripts/test-pythons $(PYTEST)

clinic: $(READY)
	$(BIN)/python -m clinic $(CLINIC)

fuzz: $(READY)
	nice $(BIN)/python -m fuzz $(FUZZ)

fuzz-guided: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'atheris>=3'
	nice $(BIN)/python -m fuzz.guided $(SECONDS)

bench: $(READY)
	benchmarks/run $(BENCH)

clean:
	rm -rf .venv .venv-* dist build docs/_build docs/reference/made docs/tutorials/made stepscope-runs .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks scripts -name __pycache__ -prune -exec rm -rf {} +
