# `make demo` and `make test` are all a newcomer needs; each sets up what it uses, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
USABLE := $(VENV)/.usable
READY  := $(VENV)/.ready
PEERS  := $(VENV)/peers
LOWEST := $(VENV)/lowest
SCVERSE := $(VENV)/scverse

.PHONY: demo test lint types contracts unit test-versions test-scverse docs stories story-scverse dist bench bench-scale goldens papers peers stress clean
.DEFAULT_GOAL := test

# What is imported is compiled once and kept, whatever the shell says: most of what is installed is never imported,
# so nothing is compiled at the installation, and dozens of tests start a process of their own.
export PYTHONDONTWRITEBYTECODE :=

$(USABLE): pyproject.toml  # what the demo shows, and no more
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable ".[cli,report]"
	@touch $(USABLE)

$(READY): $(USABLE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --group dev
	@touch $(READY)

$(PEERS)/.ready: pyproject.toml  # other packages have limits of their own on versions, so they live apart
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group peers
	@touch $(PEERS)/.ready

$(LOWEST)/.ready: pyproject.toml  # the lowest declared version of everything
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(PYTHON) tests/lowest_versions.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint $(LOWEST)/constraints.txt \
		--editable ".[cli,report]" --group test
	@touch $(LOWEST)/.ready

$(SCVERSE)/.ready: pyproject.toml  # scanpy needs a hundred other packages
	$(PYTHON) -m venv $(SCVERSE)
	$(SCVERSE)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(SCVERSE)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --editable ".[cli,scverse]" --group scverse
	@touch $(SCVERSE)/.ready

demo: $(USABLE)  ## fit bundled data, print what was proved, write a page to explore
	@$(BIN)/python examples/demo.py

test: lint contracts  ## every check; types and the guide beside the tests, which take longest
	@$(MAKE) --no-print-directory --jobs 2 unit types docs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

contracts: $(READY)
	$(BIN)/lint-imports

unit: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

test-versions: $(LOWEST)/.ready $(READY)  ## the tests with the lowest declared versions, and with the newest ones
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest --numprocesses auto --dist worksteal \
		-W ignore::DeprecationWarning  # of packages that these use
	$(MAKE) --no-print-directory unit

test-scverse: $(SCVERSE)/.ready  ## panels of genes in real AnnData objects, and scanpy's plots of them
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(SCVERSE)/bin/python -m pytest tests/scverse -W default

story-scverse: $(SCVERSE)/.ready  ## what docs/scverse.md quotes, and its picture again
	$(SCVERSE)/bin/python benchmarks/stored.py stories examples/story_scverse.py

docs: $(READY)  ## the guide, in out/site; a broken link or name is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

stories: $(READY)  ## what the guide's stories print, and their pictures again, from the real data in SPARING_DATA
	$(BIN)/python benchmarks/stored.py stories $(filter-out examples/story_data.py examples/story_scverse.py,$(wildcard examples/story_*.py)) \
		examples/beside_scikit_learn.py examples/leukemia_clusters.py

dist: $(READY)  ## a wheel below 1 MB, and the tests against the installed wheel
	rm -rf dist && $(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	@test $$(stat -c %s dist/*.whl) -lt 1000000 || { echo "the wheel exceeds 1 MB"; exit 1; }
	rm -rf dist/venv && $(PYTHON) -m venv dist/venv
	dist/venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	dist/venv/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl --group test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 dist/venv/bin/python -m pytest --numprocesses auto

bench: $(READY)  ## speed, quality, memory and import time, side by side with scikit-learn
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/run.py

bench-scale: $(READY)  ## data of any storage and size: passes, memory, time beside producing the data
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/scale/run.py

goldens: $(READY)  ## answers of many small fits, compared with those stored; a change of internals moves none
	$(BIN)/python benchmarks/goldens.py

papers: $(READY)  ## tables and figures of the papers again, from the real data in SPARING_DATA, and docs/papers.md
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/papers/run.py

peers: $(PEERS)/.ready  ## other packages beside this one, on the real data in SPARING_DATA, and docs/peers.md; ONLY=panels: a part
	OPENBLAS_NUM_THREADS=1 $(PEERS)/bin/python benchmarks/peers/run.py $(ONLY)

stress: $(READY)  ## long tests, every property on new examples, and ten minutes of trying to break it: odd data, hostile files, interruptions, leaks
	SPARING_STRESS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -m pytest -m "long or hypothesis" --ignore tests/stress --timeout 1800 --numprocesses auto --dist worksteal
	SPARING_STRESS=1 SPARING_STRESS_SECONDS=$${SPARING_STRESS_SECONDS:-480} OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -m pytest tests/stress --timeout 1800 --numprocesses auto --dist worksteal

clean:
	rm -rf $(VENV) dist out
