# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Segment recovery: the records that any replica holds, and what none does.

Three passes, in the order of the data: ``scan`` finds the good batches of each file;
``losses`` decides for each partition which copy of a batch is taken and what is lost,
with ``replicas``, ``choice`` and ``conflicts``; ``records`` writes the rows. ``job``
runs them, ``outcome`` puts their summaries together, ``page`` shows it.
``docs/operators/export.md`` explains how it decides.
"""
