# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""From Kafka's bytes to reports: ``python -m examples.pipeline``.

``traffic`` and ``old_client`` generate traffic, which ``kwire record`` stores and
``frames`` checks. ``brokers`` copies the data directories of a real broker and damages
them. The three jobs analyse the traffic and the data directories, and ``race`` measures
speed. ``__main__`` runs all steps.
"""
