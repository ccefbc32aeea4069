# Every target makes .venv and installs what it needs, under constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEV_INSTALLED := $(VENV)/.installed-dev
BENCH_INSTALLED := $(VENV)/.installed-bench
STUDY_INSTALLED := $(VENV)/.installed-study
DOCS_INSTALLED := $(VENV)/.installed-docs
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint bench guard study docs screenshots wheel clean

demo: $(INSTALLED)
	$(BIN)/maskrank demo

test: lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

lint: $(DEV_INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/check_words.py

bench: $(BENCH_INSTALLED)
	$(BIN)/python benchmarks/engine.py

guard: $(STUDY_INSTALLED)
	$(BIN)/python benchmarks/guard.py

study: $(STUDY_INSTALLED)
	$(BIN)/maskrank study all --jobs 2 --resume

docs: $(DOCS_INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

screenshots: $(DEV_INSTALLED)
	$(BIN)/python docs/make_screenshots.py

wheel: $(DEV_INSTALLED)
	$(BIN)/python benchmarks/wheel.py

clean:
	rm -rf $(VENV) build dist site docs/_generated src/*.egg-info .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt -e .
	touch $@

$(DEV_INSTALLED): $(INSTALLED)
	$(BIN)/pip install -q -c constraints.txt -e ".[dev,parquet]"
	touch $@

$(BENCH_INSTALLED): $(INSTALLED)
	$(BIN)/pip install -q -c constraints.txt -e ".[bench]"
	touch $@

$(STUDY_INSTALLED): $(INSTALLED)
	$(BIN)/pip install -q -c constraints.txt -e ".[study]"
	touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	$(BIN)/pip install -q -c constraints.txt -e ".[docs]"
	touch $@
