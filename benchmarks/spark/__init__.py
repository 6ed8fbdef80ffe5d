# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmark for Spark tables from Kafka log files: ``python -m benchmarks spark``.

The upper bound for a rate is a replay: Spark reads the same rows, which have been
prepared before, so that nothing is decoded. The modules are:

* ``inputs``: writes the files.
* ``sources``: data sources for replays and peers.
* ``cases``: lists the jobs.
* ``rounds``: measures the jobs.
* ``chapter``: writes the report.
"""
