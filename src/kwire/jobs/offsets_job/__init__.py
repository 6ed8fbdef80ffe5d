# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Consumer group history: commits, states and lag, reconstructed from broker files.

The job consists of two passes. ``reading`` reads ``__consumer_offsets`` with
``groups``. ``lag`` reads batch headers from all topics that groups commit to. ``sums``
combines the results, ``tables`` defines the table columns, and ``page`` renders the
HTML report. ``job`` runs these steps.
"""
