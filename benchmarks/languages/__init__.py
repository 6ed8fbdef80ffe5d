# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire beside the Kafka codecs of Rust, Java and Go, on the same bytes.

``python -m benchmarks languages`` builds the programs of ``rust``, ``java`` and ``go``,
compares the values that all of them decode, measures, and writes its chapter. Requires
cargo, Java 17 with Maven, and Go; the first run compiles for some minutes.
"""
