# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare kwire with Kafka codecs for Rust, Java and Go, using the same bytes.

``python -m benchmarks languages`` builds the programs in ``rust``, ``java`` and ``go``,
verifies that all programs decode the same values, runs the measurements and writes the
chapter. Requires cargo, Java 17 with Maven, and Go. The first run compiles for several
minutes.
"""
