# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks spark-udf``: Spark UDFs that decode a column of Kafka's bytes.

All libraries decode in the same user-defined function, with and without Arrow. They are
compared with kwire's own column functions. ``inputs`` writes the columns, ``decoders``
contains the UDF bodies, ``cases`` lists the jobs, ``rounds`` measures them, and
``chapter`` writes the text.
"""
