# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kafka-python and aiokafka consumers, with and without kwire's adapters.

``python -m benchmarks adapters`` runs the measurements and writes the chapter. The
topics and reader functions are defined in ``benchmarks.live``.
"""
