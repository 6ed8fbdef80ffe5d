# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Segment recovery: export every record that at least one replica still holds.

An export runs three passes:

1. ``scan`` reads segment files and collects their valid batch headers.
2. ``decide`` chooses which copy of a batch is read, and explains lost offsets. Its unit
   is a partition with all its replicas.
3. ``records`` decodes the chosen batches and writes their records to Parquet.

``job`` runs the passes, ``outcome`` merges the task summaries into tables, and ``page``
renders the HTML report.

Batches are numpy array rows (``header_rows``, ``partition_batches``), so that millions
of them can be processed without Python objects. The steps of ``decide`` are functions
over these arrays: ``replicas`` checks leader epochs, ``choice`` sorts batches and
chooses copies, ``conflicts`` resolves contradictions between overlapping batches, and
``losses`` explains gaps. The rules are documented in ``docs/operators/export.md``.
"""
