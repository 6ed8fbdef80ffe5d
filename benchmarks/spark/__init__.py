# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks spark``: tables of Spark from Kafka's bytes.

The bound of each rate is a replay: Spark reads the same rows, prepared beforehand, and
nothing is decoded. ``inputs`` writes the files, ``sources`` has the replays and the
peers, ``cases`` lists what is timed, ``rounds`` times it, ``chapter`` writes the text.
"""
