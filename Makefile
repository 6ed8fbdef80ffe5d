# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# Development tasks of the project. All targets install their requirements and print the
# commands that they run. .ci/run and the workflows call the same targets.

PYTHON ?= python3
RELEASE ?= 4.4.0
MINUTES ?= 10

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
ENGINE := $(wildcard src/kwire/_engine/fast/*.pyx src/kwire/_engine/fast/*.pxd src/kwire/_engine/fast/*.h)
SOURCES := src tests tools fuzz benchmarks examples docs/conf.py setup.py
BUILT := $(VENV)/.built
TESTED := $(VENV)/.built $(VENV)/.has-test
# Live checks print their results.
LIVE := $(PY) -m pytest --verbose --capture=no -p no:randomly
# Tests spend about half of their time waiting for Spark, peers and timeouts, so three
# workers are necessary to use two processors.
PARALLEL := --numprocesses 3 --dist loadscope --no-loadscope-reorder

# Numbers of hostile inputs and simulated scans that the promises in SECURITY.md specify.
GATE_INPUTS := KWIRE_HOSTILE_INPUTS=200000 KWIRE_SIMULATION_SEEDS=2000
# Tests that record figures for the promises.
SHOWN_BY := tests/safety tests/messages/test_round_trip.py tests/messages/test_vectors.py \
	tests/engine/twins/test_agreement.py tests/records/compression/test_compression_damage.py \
	tests/records/test_record_memory.py

# Tests start many Python processes, so Python must be able to store compiled modules.
unexport PYTHONDONTWRITEBYTECODE
# These targets finish before Java's optimizing compiler and parallel garbage collector
# would save time.
test interop-pages spark-kills spark-live spark-clusters: export SPARK_SUBMIT_OPTS := -XX:TieredStopAtLevel=1 -XX:+UseSerialGC

.DEFAULT_GOAL := help
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' Makefile

$(VENV)/.made: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kwire needs Python 3.11 or newer; name one with make PYTHON=...")'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PIP) 'pip>=25.1'
	@$(PIP) -c constraints.txt --group build
	@touch $@

# The engine is compiled in place before the tree is installed. Otherwise pip would
# compile it again.
$(BUILT): $(VENV)/.made setup.py pyproject.toml $(ENGINE)
	@echo "==> compiling the engine (half a minute)"
	@$(PY) setup.py --quiet build_ext --inplace --parallel 2
	@KWIRE_BUILD_PURE=1 $(PIP) --no-build-isolation --no-deps -e .
	@touch $@

# One stamp for each dependency group: $(VENV)/.has-test and so on.
$(VENV)/.has-%: $(VENV)/.made pyproject.toml
	@echo "==> installing the dependencies of '$*'"
	@$(PIP) -c constraints.txt --group $*
	@touch $@

setup: $(TESTED) $(VENV)/.has-lint  ## install the dependencies of tests and linters, compile the engine

build: $(BUILT)  ## compile the engine

demo: $(BUILT) $(VENV)/.has-demo  ## process real Kafka traffic and logs with all jobs on a local Spark; VERBOSE=1 prints all lines
	@$(PY) -m examples.pipeline $(if $(VERBOSE),--verbose) $(ARGS)

quick: $(BUILT) $(VENV)/.has-quick  ## test codec, records and columns on both engines, in one minute
	$(PY) -m pytest --quick -m 'not gate and not slow' $(PARALLEL)

test: $(TESTED)  ## run all tests except slow tests; GATE=1 includes them, with all inputs
	$(if $(GATE),$(GATE_INPUTS)) $(PY) -m pytest -m 'not night$(if $(GATE),, and not gate)' $(PARALLEL)

pure: $(VENV)/.made $(VENV)/.has-test  ## run all tests without a compiled engine
	$(PY) -m tools.prove.pure_suite

check: $(TESTED) $(VENV)/.has-lint $(VENV)/.has-coverage  ## check lint, prose, types and generated files, test the tools
	$(VENV)/bin/ruff check $(SOURCES)
	$(VENV)/bin/ruff format --check --quiet $(SOURCES)
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" cython-lint src/kwire/_engine/fast
	$(VENV)/bin/codespell $(filter-out %.py,$(SOURCES)) docs *.md
	$(VENV)/bin/reuse lint --lines
	$(PY) -m tools.check.prose
	$(PY) -m tools.check.commits
	$(VENV)/bin/mypy src tools
	$(PY) -m tools.generate.stubs --check
	$(PY) -m tools.generate.error_classes
	$(PY) -m tools.generate.import_schemas index --check
	$(PY) -m tools.generate.promises --check
	$(PY) -m tools.generate.draft_requirements --check
	$(PY) -m tools.generate.served_apis --check
	$(PY) -m tools.generate.readme_figures --check
	$(PY) -m pytest --quiet tools/check tools/generate tools/prove
	$(PY) -m pytest --quiet benchmarks --ignore benchmarks/spark --ignore benchmarks/spark_udf --numprocesses 2 --dist loadfile

docs: $(BUILT) $(VENV)/.has-docs  ## build the documentation site in build/docs
	$(PY) -m tools.generate.docs

stubs: $(BUILT)  ## generate messages.pyi
	$(PY) -m tools.generate.stubs

schema: $(BUILT)  ## import the message schemas of a Kafka release: make schema RELEASE=x.y.z
	$(PY) -m tools.generate.import_schemas from --release $(RELEASE) --write
	$(PY) -m tools.generate.stubs

vectors: $(BUILT)  ## generate test vectors with Kafka's classes (Java 17, Maven)
	$(PY) -m tools.interop.oracle.oracle write
	$(PY) -m tools.interop.oracle.records write
	$(PY) -m tools.interop.oracle.boundaries write

data: $(TESTED)  ## generate data directories with Kafka's brokers (Java 17, Maven)
	$(PY) -m tools.interop.broker.write_data 4.3.1 3.9.2 2.8.2

pins: $(VENV)/.made $(VENV)/.has-pins  ## generate constraints.txt; UPGRADE=1 upgrades all versions
	$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11.0 --no-annotate \
		--custom-compile-command 'make pins' --output-file constraints.txt \
		$(if $(UPGRADE),--upgrade) --group bench --group browser --group coverage --group demo \
		--group docs --group fuzz --group lint --group pins --group release

# These targets spend most of their time waiting for brokers, drivers and browsers. After
# make setup they can run in parallel, as in .ci/run.
interop: interop-classes interop-brokers interop-libraries interop-pages  ## compare kwire with Kafka's own classes and brokers (Java 17, Maven)

interop-classes: $(TESTED)
	$(PY) -m tools.interop.oracle.oracle check
	$(PY) -m tools.interop.oracle.leniency
	$(PY) -m tools.interop.oracle.oracle check-errors
	$(PY) -m tools.generate.import_schemas check --release $(RELEASE)
	$(PY) -m tools.interop.oracle.records check
	$(PY) -m tools.interop.oracle.partitions
	$(PY) -m tools.interop.broker.file_readers check
	$(PY) -m tools.interop.oracle.boundaries check

interop-brokers: $(TESTED)  ## run the live checks, including clusters whose brokers are killed; NIGHT=1 for more runs
	$(LIVE) tools/interop/broker $(if $(NIGHT),--night)
	$(PY) -m tools.interop.adapters.versions --newest

interop-releases: $(TESTED)  ## test all features with brokers of all releases since 0.8, write docs/guides/live.md
	$(LIVE) tools/interop/broker/test_releases.py --all --document

interop-pages: $(TESTED) $(VENV)/.has-browser
	$(PY) -m tools.interop.browser.schema_page
	$(PY) -m tools.interop.browser.explain_page
	$(PY) -m examples.pipeline --verbose
	$(PY) -m tools.interop.browser.report_page demo-output/audit demo-output/export demo-output/offsets

interop-libraries: $(TESTED)  ## convert scans to tables with pandas 3, in a separate environment
	$(PY) -m tools.interop.table_libraries

spark: spark-kills spark-live spark-clusters  ## kill drivers of streams, compare live topics with Spark's own source, test a cluster without kwire and the oldest PySpark; NIGHT=1 for more runs

spark-kills: $(TESTED)
	$(PY) -m tools.interop.spark.stream_kills --kills $(if $(NIGHT),20,8)

spark-live: $(TESTED)
	$(PY) -m tools.interop.spark.own_source
	$(PY) -m tools.interop.spark.own_sink
	$(PY) -m tools.interop.spark.live_kills --kills $(if $(NIGHT),6,3)
	$(PY) -m pytest --quiet benchmarks/spark benchmarks/spark_udf

spark-clusters: $(TESTED)
	$(PY) -m tools.interop.spark.shipping
	$(PY) -m tools.interop.spark.oldest $(if $(NIGHT),,--sources)

deep: $(TESTED)  ## check the promises on many more inputs; continues after the last run
	$(PY) -m tools.prove.deep
	KWIRE_SIMULATION_SEEDS=100000 $(PY) -m pytest -q tests/client/machines --numprocesses 2

sanitize: $(TESTED)  ## run hostile inputs and tests with the sanitizers of the C compiler
	$(PY) -m tools.prove.sanitize

planted: $(TESTED)  ## check that every harness detects its planted bug
	$(PY) -m tools.prove.planted

mutants: $(TESTED)  ## check that tests detect every inverted bounds comparison in the engine
	$(PY) -m tools.prove.cursor_mutants

references: $(TESTED)  ## count references with a debug build of CPython
	$(PY) -m tools.prove.references

faults: $(TESTED)  ## test kills, full disks and slow peers
	$(PY) -m tools.prove.faults --kills 200

fuzz: $(BUILT) $(VENV)/.has-fuzz  ## fuzz for MINUTES=10 (CPython 3.11)
	$(PY) -m fuzz --minutes $(MINUTES)

coverage: $(TESTED) $(VENV)/.has-coverage  ## measure line and branch coverage of both engines
	$(PY) -m tools.prove.line_coverage

bench: $(BUILT) $(VENV)/.has-bench  ## compare speed and memory with other libraries, write benchmarks/RESULTS.md
	$(PY) -m benchmarks

bench-live: $(BUILT) $(VENV)/.has-bench  ## compare scans with other clients (Java 17, Maven)
	$(PY) -m benchmarks live

bench-adapters: $(BUILT) $(VENV)/.has-bench  ## compare consumers of other clients with and without the adapters (Java 17, Maven)
	$(PY) -m benchmarks adapters

bench-producer: $(BUILT) $(VENV)/.has-bench  ## compare producers with other clients (Java 17, Maven)
	$(PY) -m benchmarks producer

bench-commands: $(BUILT) $(VENV)/.has-bench  ## compare kwire read with kcat (kcat, Java 17, Maven)
	$(PY) -m benchmarks commands

bench-languages: $(BUILT) $(VENV)/.has-bench  ## compare with codecs in Rust, Java and Go (cargo, Java 17, Maven, Go)
	$(PY) -m benchmarks languages

bench-leaders: $(BUILT) $(VENV)/.has-bench  ## measure the time that KIP-951 saves (Java 17, Maven)
	$(PY) -m benchmarks leaders

bench-spark-live: $(BUILT) $(VENV)/.has-bench  ## compare kafka-live with Spark's own source (Java 17, Maven)
	$(PY) -m benchmarks spark-live

bench-scale: $(BUILT) $(VENV)/.has-bench  ## measure plans of up to 20 TB and four executors, write docs/project/scale.md
	$(PY) -m benchmarks scale

bench-testing: $(BUILT) $(VENV)/.has-bench  ## measure the start of test clusters, and records through them
	$(PY) -m benchmarks testing

bench-safety: $(BUILT) $(VENV)/.has-bench  ## measure the cost of safety
	$(PY) -m benchmarks safety

wheel: $(VENV)/.made  ## build a wheel for this Python and this machine in dist
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir dist .
	@ls -1t dist/*.whl | head -1

wheels: $(VENV)/.has-release  ## build sdist and wheels, test them with every CPython on this machine
	rm -rf dist
	$(PY) -m tools.release.sdist dist
	$(PY) -m tools.release.wheels dist
	$(PY) -m tools.release.contents dist/*
	$(PY) -m twine check --strict dist/*
	$(PY) -m tools.release.installed dist

platforms: $(BUILT)  ## run tests on other processors and Pythons with qemu (Debian, root)
	$(PY) -m tools.platforms.platforms --record

platforms-short: $(TESTED)  ## run a fast selection of these tests for .ci/run (Debian, root)
	$(PY) -m tools.platforms.platforms --short

races: $(BUILT)  ## test threads on a free-threaded CPython, with ThreadSanitizer and for MINUTES=10 (Debian, root)
	$(PY) -m tools.platforms.races --sanitize
	$(PY) -m tools.platforms.races --minutes $(MINUTES)

workflows: $(VENV)/.has-release  ## lint the workflows
	$(PY) -m tools.release.workflows

promises: $(TESTED) $(VENV)/.has-coverage $(VENV)/.has-bench $(VENV)/.has-fuzz $(VENV)/.has-release  ## run every harness for hours, write the table in SECURITY.md
	$(GATE_INPUTS) $(PY) -m pytest --figures suite $(SHOWN_BY)
	$(PY) -m tools.prove.pure_suite --record
	$(PY) -m tools.interop.oracle.leniency --record
	$(PY) -m tools.prove.references --record
	$(PY) -m tools.prove.sanitize --record
	$(PY) -m tools.prove.line_coverage --record
	$(PY) -m tools.prove.cursor_mutants --record
	$(PY) -m tools.prove.planted --record
	$(PY) -m tools.prove.faults --kills 200 --record
	$(PY) -m tools.prove.deep --minutes 60 --record
	$(PY) -m benchmarks safety --record
	rm -rf dist
	$(PY) -m tools.release.sdist dist
	$(PY) -m tools.release.wheels dist
	$(PY) -m tools.release.installed dist --record
	$(PY) -m fuzz ledger --record
	$(PY) -m tools.generate.promises

clean:  ## remove all build results
	rm -rf build dist tools/interop/oracle/target tools/interop/broker/target src/kwire.egg-info $(VENV)
	rm -f src/kwire/_engine/fast/*.so src/kwire/_engine/fast/*.pyd
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
