# Everything the project can do for you, from a machine with Python 3.11 and make. `make help` lists it.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALLED := .venv/.installed
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types imports unit lit golden fuzz bench docs clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

setup: $(INSTALLED) ## create .venv and install the project with everything it is developed and tested with

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "Python 3.11 is needed; say which: make PYTHON=/path/to/python3.11")'
	@echo 'installing into .venv; this takes a few minutes'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: setup ## train, quantize, lower and check a small classifier on real images
	$(BIN)/shlo-quant demo

test: lint types imports unit lit golden ## everything that has to hold before a commit

lint: setup ## ruff: rules and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: setup ## mypy, strict
	$(BIN)/mypy

imports: setup ## import-linter: imports go one way
	$(BIN)/lint-imports --no-logo

unit: setup ## pytest
	$(BIN)/pytest --numprocesses $(WORKERS)

lit: setup ## FileCheck tests of passes and tools
	$(BIN)/lit --workers $(WORKERS) lit_tests

golden: setup ## golden programs: inputs, program and expected integers in one file
	$(BIN)/shlo-quant golden check testdata

fuzz: setup ## 20,000 random programs of one op: the fast engine against the reference interpreter
	$(BIN)/python -m tests.single_op

bench: setup ## time and memory of lowering and of running, beside executorch and others
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/bench_runs.py --grow

docs: setup ## write passes/README.md from the passes
	$(BIN)/python docs/make_passes.py

clean: ## remove .venv, builds and caches
	rm -rf .venv build dist python/*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
