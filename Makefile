# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# What is done with the project. Each target installs what it requires, and prints what
# it runs; .ci/run and the workflows call the same ones.

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
# The live checks print what they found.
LIVE := $(PY) -m pytest --verbose --capture=no -p no:randomly
# Tests wait for Spark, peers and timeouts about half of the time, so three workers keep
# two processors busy.
PARALLEL := --numprocesses 3 --dist loadscope --no-loadscope-reorder

# As many hostile inputs and simulated scans as the promises name.
GATE_INPUTS := KWIRE_HOSTILE_INPUTS=200000 KWIRE_SIMULATION_SEEDS=2000
# The tests that note figures.
SHOWN_BY := tests/safety tests/messages/test_round_trip.py tests/messages/test_vectors.py \
	tests/engine/twins/test_agreement.py tests/records/compression/test_compression_damage.py \
	tests/records/test_record_memory.py

# What the tests start over and over is compiled once.
unexport PYTHONDONTWRITEBYTECODE
# These are over before more than Java's quick compiler and simple collector pay.
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

# What is compiled is there when the tree is installed; pip would do it all again.
$(BUILT): $(VENV)/.made setup.py pyproject.toml $(ENGINE)
	@echo "==> compiling the engine (half a minute)"
	@$(PY) setup.py --quiet build_ext --inplace --parallel 2
	@KWIRE_BUILD_PURE=1 $(PIP) --no-build-isolation --no-deps -e .
	@touch $@

# One stamp for each dependency group: $(VENV)/.has-test and so on.
$(VENV)/.has-%: $(VENV)/.made pyproject.toml
	@echo "==> installing what '$*' needs"
	@$(PIP) -c constraints.txt --group $*
	@touch $@

setup: $(TESTED) $(VENV)/.has-lint  ## install what tests and linters need, compile the engine

build: $(BUILT)  ## compile the engine

demo: $(BUILT) $(VENV)/.has-demo  ## real Kafka traffic and logs through all jobs, on a local Spark; VERBOSE=1 for all lines
	@$(PY) -m examples.pipeline $(if $(VERBOSE),--verbose) $(ARGS)

quick: $(BUILT) $(VENV)/.has-quick  ## test codec, records and columns, on both engines, in a minute
	$(PY) -m pytest --quick -m 'not gate and not slow' $(PARALLEL)

test: $(TESTED)  ## all tests but slow ones; GATE=1 for these as well, with all inputs
	$(if $(GATE),$(GATE_INPUTS)) $(PY) -m pytest -m 'not night$(if $(GATE),, and not gate)' $(PARALLEL)

pure: $(VENV)/.made $(VENV)/.has-test  ## all tests with no compiled engine
	$(PY) -m tools.prove.pure_suite

check: $(TESTED) $(VENV)/.has-lint $(VENV)/.has-coverage  ## lint, prose, types, generated files, tests of tools
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
	$(PY) -m tools.generate.readme_figures --check
	$(PY) -m pytest --quiet tools/check tools/generate tools/prove
	$(PY) -m pytest --quiet benchmarks --ignore benchmarks/spark --ignore benchmarks/spark_udf --numprocesses 2 --dist loadfile

docs: $(BUILT) $(VENV)/.has-docs  ## the site of the documentation, into build/docs
	$(PY) -m tools.generate.docs

stubs: $(BUILT)  ## write messages.pyi
	$(PY) -m tools.generate.stubs

schema: $(BUILT)  ## merge the messages of a Kafka release: make schema RELEASE=x.y.z
	$(PY) -m tools.generate.import_schemas from --release $(RELEASE) --write
	$(PY) -m tools.generate.stubs

vectors: $(BUILT)  ## write the vectors of Kafka's classes (Java 17, Maven)
	$(PY) -m tools.interop.oracle.oracle write
	$(PY) -m tools.interop.oracle.records write
	$(PY) -m tools.interop.oracle.boundaries write

data: $(TESTED)  ## write the data directories of Kafka's brokers (Java 17, Maven)
	$(PY) -m tools.interop.broker.write_data 4.3.1 3.9.2 2.8.2

pins: $(VENV)/.made $(VENV)/.has-pins  ## write constraints.txt; UPGRADE=1 for newer versions
	$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11.0 --no-annotate \
		--custom-compile-command 'make pins' --output-file constraints.txt \
		$(if $(UPGRADE),--upgrade) --group bench --group browser --group coverage --group demo \
		--group docs --group fuzz --group lint --group pins --group release

# The parts wait for brokers, drivers and browsers for most of their time: once make
# setup has been run, they can run side by side, as .ci/run does it.
interop: interop-classes interop-brokers interop-libraries interop-pages  ## against Kafka's own classes and brokers (Java 17, Maven)

interop-classes: $(TESTED)
	$(PY) -m tools.interop.oracle.oracle check
	$(PY) -m tools.interop.oracle.leniency
	$(PY) -m tools.interop.oracle.oracle check-errors
	$(PY) -m tools.generate.import_schemas check --release $(RELEASE)
	$(PY) -m tools.interop.oracle.records check
	$(PY) -m tools.interop.oracle.partitions
	$(PY) -m tools.interop.broker.file_readers check
	$(PY) -m tools.interop.oracle.boundaries check

interop-brokers: $(TESTED)  ## live checks, with clusters whose brokers are killed; NIGHT=1 for more runs
	$(LIVE) tools/interop/broker $(if $(NIGHT),--night)
	$(PY) -m tools.interop.adapters.versions --newest

interop-releases: $(TESTED)  ## every feature against brokers of each release from 0.8 on, into docs/guides/live.md
	$(LIVE) tools/interop/broker/test_releases.py --all --document

interop-pages: $(TESTED) $(VENV)/.has-browser
	$(PY) -m tools.interop.browser.schema_page
	$(PY) -m tools.interop.browser.explain_page
	$(PY) -m examples.pipeline --verbose
	$(PY) -m tools.interop.browser.report_page demo-output/audit demo-output/export demo-output/offsets

interop-libraries: $(TESTED)  ## scans as tables with pandas 3, in an environment of its own
	$(PY) -m tools.interop.table_libraries

spark: spark-kills spark-live spark-clusters  ## streams whose driver is killed, live topics beside Spark's own source, a cluster without kwire, the oldest PySpark; NIGHT=1 for more runs

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

deep: $(TESTED)  ## the promises on many more inputs; goes on where it last ended
	$(PY) -m tools.prove.deep
	KWIRE_SIMULATION_SEEDS=100000 $(PY) -m pytest -q tests/client/machines --numprocesses 2

sanitize: $(TESTED)  ## hostile inputs and tests under the sanitizers of the C compiler
	$(PY) -m tools.prove.sanitize

planted: $(TESTED)  ## every harness sees the bug that is planted for it
	$(PY) -m tools.prove.planted

mutants: $(TESTED)  ## every comparison of the engine's bounds, flipped
	$(PY) -m tools.prove.cursor_mutants

references: $(TESTED)  ## references, counted by a debug build of CPython
	$(PY) -m tools.prove.references

faults: $(TESTED)  ## kills, full disks and slow peers
	$(PY) -m tools.prove.faults --kills 200

fuzz: $(BUILT) $(VENV)/.has-fuzz  ## fuzz for MINUTES=10 (CPython 3.11)
	$(PY) -m fuzz --minutes $(MINUTES)

coverage: $(TESTED) $(VENV)/.has-coverage  ## lines and branches of both engines
	$(PY) -m tools.prove.line_coverage

bench: $(BUILT) $(VENV)/.has-bench  ## speed and memory beside the peers, into benchmarks/RESULTS.md
	$(PY) -m benchmarks

bench-live: $(BUILT) $(VENV)/.has-bench  ## scans of a broker beside other clients (Java 17, Maven)
	$(PY) -m benchmarks live

bench-adapters: $(BUILT) $(VENV)/.has-bench  ## consumers of other clients without and with the adapters (Java 17, Maven)
	$(PY) -m benchmarks adapters

bench-producer: $(BUILT) $(VENV)/.has-bench  ## producers beside those of other clients (Java 17, Maven)
	$(PY) -m benchmarks producer

bench-commands: $(BUILT) $(VENV)/.has-bench  ## kwire read beside kcat (kcat, Java 17, Maven)
	$(PY) -m benchmarks commands

bench-languages: $(BUILT) $(VENV)/.has-bench  ## beside codecs of Rust, Java and Go (cargo, Java 17, Maven, Go)
	$(PY) -m benchmarks languages

bench-leaders: $(BUILT) $(VENV)/.has-bench  ## what the hints of KIP-951 save (Java 17, Maven)
	$(PY) -m benchmarks leaders

bench-spark-live: $(BUILT) $(VENV)/.has-bench  ## kafka-live beside Spark's own source (Java 17, Maven)
	$(PY) -m benchmarks spark-live

bench-scale: $(BUILT) $(VENV)/.has-bench  ## plans of up to 20 TB and four executors, into docs/project/scale.md
	$(PY) -m benchmarks scale

bench-safety: $(BUILT) $(VENV)/.has-bench  ## what safety costs
	$(PY) -m benchmarks safety

wheel: $(VENV)/.made  ## a wheel for this Python and this machine, into dist
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir dist .
	@ls -1t dist/*.whl | head -1

wheels: $(VENV)/.has-release  ## sdist and wheels, tried out on every CPython of this machine
	rm -rf dist
	$(PY) -m tools.release.sdist dist
	$(PY) -m tools.release.wheels dist
	$(PY) -m tools.release.contents dist/*
	$(PY) -m twine check --strict dist/*
	$(PY) -m tools.release.installed dist

platforms: $(BUILT)  ## tests on other processors and Pythons, by qemu (Debian, root)
	$(PY) -m tools.platforms.platforms --record

platforms-short: $(TESTED)  ## those of them that .ci/run has time for (Debian, root)
	$(PY) -m tools.platforms.platforms --short

races: $(BUILT)  ## threads on a free-threaded CPython, with ThreadSanitizer and for MINUTES=10 (Debian, root)
	$(PY) -m tools.platforms.races --sanitize
	$(PY) -m tools.platforms.races --minutes $(MINUTES)

workflows: $(VENV)/.has-release  ## lint the workflows
	$(PY) -m tools.release.workflows

promises: $(TESTED) $(VENV)/.has-coverage $(VENV)/.has-bench $(VENV)/.has-fuzz $(VENV)/.has-release  ## every harness, for hours, and the table of SECURITY.md
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

clean:  ## remove what was built
	rm -rf build dist tools/interop/oracle/target tools/interop/broker/target src/kwire.egg-info $(VENV)
	rm -f src/kwire/_engine/fast/*.so src/kwire/_engine/fast/*.pyd
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
