# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Consumers of kafka-python and aiokafka, without and with kwire's adapters.

``python -m benchmarks adapters`` measures and writes its chapter. Topics and readers
are those of ``benchmarks.live``.
"""
