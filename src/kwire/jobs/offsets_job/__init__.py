# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What consumer groups did: commits, states, lag, from the files of brokers.

Two passes, in the order of the data: ``reading`` reads ``__consumer_offsets`` with
``groups``, ``lag`` looks at the topics that groups commit to. ``sums`` puts both
together, ``tables`` has the columns, ``page`` shows them. ``job`` runs them.
"""
