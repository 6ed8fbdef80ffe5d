# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks spark-udf``: Spark UDFs that decode a column of Kafka's bytes.

Each library decodes in the same user-defined function, with Arrow and without, beside
kwire's own column functions. ``inputs`` writes the columns, ``decoders`` has the bodies
of the UDFs, ``cases`` lists the jobs, ``rounds`` times them, and ``chapter`` writes the
text.
"""
