# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Segment recovery: the records that any replica holds, and what none does.

Three passes: ``scan`` finds the valid batches of each file; ``decide`` chooses for each
partition which copy of a batch is read, and explains what is lost; ``records`` writes
the rows. ``job`` runs the passes, ``outcome`` merges their summaries, ``page`` shows
them.

Batches are rows of numpy arrays (``header_rows``, ``partition_batches``), and each step
of ``decide`` is a function over these arrays: ``replicas`` judges leader epochs,
``choice`` sorts the batches and chooses copies, ``conflicts`` judges overlapping
batches, ``losses`` explains the gaps. ``docs/operators/export.md`` has the rules.
"""
