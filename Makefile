# Verbs of the project, the same on a laptop and in CI. They need Python 3.11 or newer.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PORT ?= 8000

.PHONY: help setup demo serve test lint bench docs clean

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

lint: setup  ## format, lint and types, as CI checks them
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: setup  ## the ratios that the README claims, measured here
	$(BIN)/python -m benchmarks

docs: setup  ## rewrite what documents take from the code, and their pictures
	$(BIN)/python -m docs.generate
	cd docs/images && ../../$(BIN)/sensmap map sphere --wrt radius --size 480x480 --colorbar -o sphere_radius.png --image sphere.png
	cd docs/images && ../../$(BIN)/sensmap map sphere --wrt 'light[0]' --size 480x480 --colorbar -o sphere_light.png

clean:  ## remove what the other verbs made
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
