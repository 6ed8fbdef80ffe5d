# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# The verbs of the project. Each one sets up what it needs and says what it does;
# .ci/run and the workflows call the same ones.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
ENGINE := $(wildcard src/kwire/_fast/*.pyx src/kwire/_fast/*.pxd src/kwire/_fast/*.h)
RELEASE ?= 4.4.0
MINUTES ?= 10
# The tests that note figures.
SHOWN_BY := tests/safety tests/test_round_trip.py tests/test_vectors.py \
	tests/twins/test_agreement.py tests/compression/test_compression_damage.py \
	tests/records/test_record_memory.py

# What the tests start over and over is compiled once.
unexport PYTHONDONTWRITEBYTECODE
# These are over before more than Java's quick compiler pays.
test interop-pages spark-kills spark-clusters: export SPARK_SUBMIT_OPTS := -XX:TieredStopAtLevel=1

# As many hostile inputs as the promises name, and the tests that are marked as gate.
GATE_INPUTS := KWIRE_HOSTILE_INPUTS=200000 KWIRE_SIMULATION_SEEDS=2000
ifdef GATE
TESTS := $(GATE_INPUTS) $(BIN)/python -m pytest
else
TESTS := $(BIN)/python -m pytest -m 'not gate'
endif

.DEFAULT_GOAL := help
.PHONY: help setup build demo quick test pure check stubs schema vectors data \
	interop interop-classes interop-brokers interop-pages spark spark-kills \
	spark-clusters deep sanitize sanitize-gate planted mutants references faults fuzz \
	coverage promises docs bench wheel wheels workflows bench-leaders \
	bench-safety clean

help:
	@echo "make demo     real Kafka traffic and logs through all jobs, on a local Spark"
	@echo "make quick    codec, records and columns on both engines, in a minute"
	@echo "make test     the tests, on both engines; GATE=1 for all inputs and all tests"
	@echo "make check    lint, types, and whether generated files are fresh"
	@echo "make docs     the site of the documentation, into build/docs"
	@echo "make bench    speed and memory beside the peers; writes benchmarks/RESULTS.md"
	@echo "              make bench-leaders, what the hints of KIP-951 save"
	@echo "make interop  against Kafka's own jars and brokers (needs Java 17 and Maven)"
	@echo "make spark    a stream under fire, a cluster without kwire, the oldest PySpark"
	@echo "make deep     the promises on many more inputs; goes on where it last ended"
	@echo "make fuzz     fuzzing for MINUTES=10; needs atheris, on CPython 3.11"
	@echo "make sanitize, references, planted, mutants, faults, coverage"
	@echo "              the other harnesses; make promises runs all, for SECURITY.md"
	@echo "make wheel    a wheel for this Python and this machine, into dist"
	@echo "make wheels   sdist and wheels, tried out on every CPython there is"
	@echo "make schema   absorb a Kafka release: make schema RELEASE=$(RELEASE)"
	@echo "make pure     the tests with no compiled engine"
	@echo "make setup    all of the above's needs at once; make build, the engine alone"
	@echo "make stubs    write messages.pyi again; make vectors, the vectors of Kafka;"
	@echo "              make data, the data directories of brokers"
	@echo "make clean    remove what was built"

$(VENV)/.made: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kwire needs Python 3.11 or newer; name one with make PYTHON=...")'
	@echo "==> virtual environment in $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	@$(PIP) --group build
	@touch $@

# What is compiled is there when the tree is installed; pip would do it all again.
$(VENV)/.built: $(VENV)/.made setup.py pyproject.toml $(ENGINE)
	@echo "==> compiling the engine (half a minute)"
	@$(BIN)/python setup.py --quiet build_ext --inplace --parallel 2
	@KWIRE_BUILD_PURE=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

# One stamp for each dependency group: $(VENV)/.has-test and so on.
$(VENV)/.has-%: $(VENV)/.made pyproject.toml
	@echo "==> installing what '$*' needs"
	@$(PIP) --group $*
	@touch $@

setup: $(VENV)/.built $(VENV)/.has-test $(VENV)/.has-lint

build: $(VENV)/.built

demo: $(VENV)/.built $(VENV)/.has-demo
	@$(BIN)/python -m examples.pipeline

test: $(VENV)/.built $(VENV)/.has-test
	@echo "==> tests, on both engines"
	@$(TESTS) --numprocesses 2 --dist loadscope --no-loadscope-reorder

quick: $(VENV)/.built $(VENV)/.has-quick
	@echo "==> tests of codec, records and columns, on both engines"
	@$(BIN)/python -m pytest --quick -m 'not gate and not slow' \
		--numprocesses 2 --dist loadscope --no-loadscope-reorder

pure: $(VENV)/.made $(VENV)/.has-test
	@echo "==> tests with no compiled engine"
	@$(BIN)/python tools/pure_suite.py

check: $(VENV)/.built $(VENV)/.has-test $(VENV)/.has-lint $(VENV)/.has-coverage
	@echo "==> lint"
	@$(BIN)/ruff check src tests tools fuzz benchmarks examples docs/conf.py setup.py
	@$(BIN)/ruff format --check --quiet src tests tools fuzz benchmarks examples docs/conf.py setup.py
	@PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint src/kwire/_fast
	@$(BIN)/codespell src tests tools fuzz benchmarks examples docs *.md
	@$(BIN)/reuse lint --lines
	@$(BIN)/python tools/words.py
	@echo "==> types"
	@$(BIN)/mypy src tools
	@echo "==> generated files"
	@$(BIN)/python tools/stubs.py --check
	@$(BIN)/python tools/import_schemas.py index --check
	@$(BIN)/python tools/promises.py --check

stubs: $(VENV)/.built
	@$(BIN)/python tools/stubs.py

schema: $(VENV)/.built
	@$(BIN)/python tools/import_schemas.py from --release $(RELEASE) --write
	@$(BIN)/python tools/stubs.py

vectors: $(VENV)/.built
	@$(BIN)/python tools/oracle/oracle.py write
	@$(BIN)/python tools/oracle/records.py write

data: $(VENV)/.built $(VENV)/.has-test
	@$(BIN)/python tools/broker/write_data.py 4.3.1 3.9.2 2.8.2

# Their parts wait for brokers, drivers and browsers for most of their time: once make
# setup has been run, they can run side by side, with --jobs 3.
interop: interop-classes interop-brokers interop-pages

spark: spark-kills spark-clusters

interop-classes: $(VENV)/.built $(VENV)/.has-test
	@echo "==> vectors, written again by Kafka's classes"
	@$(BIN)/python tools/oracle/oracle.py check
	@echo "==> strictness and leniency beside Kafka's own reader"
	@$(BIN)/python tools/oracle/leniency.py
	@echo "==> error codes and definitions against Kafka's jars"
	@$(BIN)/python tools/oracle/oracle.py check-errors
	@$(BIN)/python tools/import_schemas.py check --release $(RELEASE)
	@echo "==> records, written by kwire and read by Kafka's classes"
	@$(BIN)/python tools/oracle/records.py check

interop-brokers: $(VENV)/.built $(VENV)/.has-test
	@echo "==> records, both ways, with live brokers"
	@$(BIN)/python tools/broker/live.py
	@echo "==> scans of live topics beside librdkafka's consumer"
	@$(BIN)/python tools/broker/scans.py --version 4.x --version 3.9.2
	@echo "==> scans through TLS and each mechanism of SASL"
	@$(BIN)/python tools/broker/secure_scans.py
	@echo "==> scans of a cluster whose leaders are killed"
	@$(BIN)/python tools/broker/kills.py
	@echo "==> negotiation with live brokers"
	@$(BIN)/python tools/broker/negotiate.py
	@$(BIN)/python tools/broker/versions_check.py

interop-pages: $(VENV)/.built $(VENV)/.has-test
	@echo "==> the pages that kwire writes, in a browser"
	@$(BIN)/python tools/browser/schema_page.py
	@$(BIN)/python tools/browser/explain_page.py
	@$(BIN)/python -m examples.pipeline
	@$(BIN)/python tools/browser/report_page.py demo-output/audit demo-output/export \
		demo-output/offsets

spark-kills: $(VENV)/.built $(VENV)/.has-test
	@echo "==> a stream whose driver is killed 20 times"
	@$(BIN)/python tools/spark/stream_kills.py --kills 20

spark-clusters: $(VENV)/.built $(VENV)/.has-test
	@echo "==> a cluster whose workers lack kwire"
	@$(BIN)/python tools/spark/shipping.py
	@echo "==> the oldest PySpark"
	@$(BIN)/python tools/spark/oldest.py

deep: $(VENV)/.built $(VENV)/.has-test
	@echo "==> the promises on many inputs; a later run goes on where this one ends"
	@$(BIN)/python -m tools.deep
	@echo "==> scans of simulated clusters, from 100,000 seeds"
	@KWIRE_SIMULATION_SEEDS=100000 $(BIN)/python -m pytest -q tests/simulation \
		--numprocesses 2

sanitize: $(VENV)/.built $(VENV)/.has-test
	@echo "==> address and undefined-behaviour sanitizers"
	@$(BIN)/python tools/sanitize.py

sanitize-gate: $(VENV)/.built $(VENV)/.has-test
	@echo "==> hostile inputs under the sanitizers"
	@$(BIN)/python tools/sanitize.py --gate

planted: $(VENV)/.built $(VENV)/.has-test
	@echo "==> every harness sees the bug that is planted for it"
	@$(BIN)/python tools/planted.py

mutants: $(VENV)/.built $(VENV)/.has-test
	@echo "==> every comparison of the cursor, flipped"
	@$(BIN)/python tools/cursor_mutants.py

references: $(VENV)/.built $(VENV)/.has-test
	@echo "==> references, counted by a debug build of CPython"
	@$(BIN)/python tools/references.py

faults: $(VENV)/.built $(VENV)/.has-test
	@echo "==> kills, full disks and slow peers"
	@$(BIN)/python tools/faults.py --kills 200

fuzz: $(VENV)/.built $(VENV)/.has-fuzz
	@echo "==> fuzzing, for $(MINUTES) minutes"
	@$(BIN)/python -m fuzz --minutes $(MINUTES)

coverage: $(VENV)/.built $(VENV)/.has-test $(VENV)/.has-coverage
	@$(BIN)/python tools/line_coverage.py

wheel: $(VENV)/.made
	@echo "==> a wheel (compiling takes half a minute)"
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation \
		--no-deps --wheel-dir dist .
	@ls -1t dist/*.whl | head -1

wheels: $(VENV)/.has-release
	@echo "==> sdist and wheels, twice and equal, and what is in them"
	@rm -rf dist
	@$(BIN)/python tools/release/sdist.py dist
	@$(BIN)/python tools/release/wheels.py dist
	@$(BIN)/python tools/release/contents.py dist/*
	@$(BIN)/python -m twine check --strict dist/*
	@echo "==> installed into every CPython that is here"
	@$(BIN)/python tools/release/installed.py dist

workflows: $(VENV)/.has-release
	@echo "==> the workflows"
	@$(BIN)/python tools/release/workflows.py

docs: $(VENV)/.built $(VENV)/.has-docs
	@$(BIN)/python tools/docs.py

bench: $(VENV)/.built $(VENV)/.has-bench
	@$(BIN)/python -m benchmarks

# Needs Java 17 and Maven, as make interop does.
bench-leaders: $(VENV)/.built $(VENV)/.has-bench
	@$(BIN)/python -m benchmarks leaders

bench-safety: $(VENV)/.built $(VENV)/.has-bench
	@$(BIN)/python -m benchmarks safety

# Every harness again, each with its figures, and the table that they make. Hours.
promises: $(VENV)/.built $(VENV)/.has-test $(VENV)/.has-coverage $(VENV)/.has-bench \
		$(VENV)/.has-fuzz $(VENV)/.has-release
	@$(GATE_INPUTS) $(BIN)/python -m pytest --figures suite $(SHOWN_BY)
	@$(BIN)/python tools/pure_suite.py --record
	@$(BIN)/python tools/oracle/leniency.py --record
	@$(BIN)/python tools/references.py --record
	@$(BIN)/python tools/sanitize.py --record
	@$(BIN)/python tools/line_coverage.py --record
	@$(BIN)/python tools/cursor_mutants.py --record
	@$(BIN)/python tools/planted.py --record
	@$(BIN)/python tools/faults.py --kills 200 --record
	@$(BIN)/python -m tools.deep --minutes 60 --record
	@$(BIN)/python -m benchmarks safety --record
	@rm -rf dist
	@$(BIN)/python tools/release/sdist.py dist
	@$(BIN)/python tools/release/wheels.py dist
	@$(BIN)/python tools/release/installed.py dist --record
	@$(BIN)/python -m fuzz ledger --record
	@$(BIN)/python tools/promises.py

clean:
	rm -rf build dist tools/oracle/target tools/broker/target src/kwire.egg-info $(VENV)
	rm -f src/kwire/_fast/*.so src/kwire/_fast/*.pyd
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
