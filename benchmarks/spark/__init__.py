# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks spark``: tables of Spark from Kafka's bytes, beside ceilings.

A ceiling is what Spark itself takes for the same rows when nobody decodes anything.
``inputs`` writes the files, ``sources`` are ceilings and peers, ``cases`` what is
timed, ``rounds`` how; ``chapter`` writes it down.
"""
