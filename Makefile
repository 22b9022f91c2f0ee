# Verbs of the project, the same on a laptop and in CI. They need Python 3.11 or newer.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PORT ?= 8000
ARGS ?=

.PHONY: help setup demo serve test drill lint bench gpu docs clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## / — /'

setup: .venv/installed  ## make .venv and install everything into it

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: setup  ## start a server, ask it for a map, write the pictures and numbers into demo/
	BIN=$(BIN) sh examples/demo.sh

serve: setup  ## keep a server up on PORT (8000)
	$(BIN)/sensmap serve --port $(PORT)

test: setup  ## every test
	$(BIN)/python -m pytest -q

drill: setup  ## the slow tests: every shipped map compiled
	$(BIN)/python -m pytest -q -m drill

lint: setup  ## format, lint and types, as CI checks them
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: setup .venv-bench/installed  ## what the README claims, and this project beside its peers; ARGS=--results keeps it
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.peers $(ARGS)

.venv-bench/installed: benchmarks/peers/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

gpu: setup  ## on a machine with CUDA, in under five minutes: its tests, the table, memory
	$(BIN)/python -m benchmarks.gpu

docs: setup  ## rewrite what documents take from the code, and their pictures
	$(BIN)/python -m docs.generate
	cd docs/images && ../../$(BIN)/sensmap map sphere --wrt radius --size 480x480 --colorbar -o sphere_radius.png --image sphere.png
	cd docs/images && ../../$(BIN)/sensmap map sphere --wrt 'light[0]' --size 480x480 --colorbar -o sphere_light.png

clean:  ## remove what the other verbs made
	rm -rf .venv .venv-bench demo benchmarks/out .pytest_cache .mypy_cache .ruff_cache .hypothesis
