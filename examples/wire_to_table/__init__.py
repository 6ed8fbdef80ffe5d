# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""From real Kafka bytes to a Spark table: ``python -m examples.wire_to_table``.

``traffic`` makes the traffic, ``relay`` and ``recording`` keep it, ``round_trip``
checks it, ``engine`` does so on each engine; ``table`` and ``spark_job`` make the
table.
"""
