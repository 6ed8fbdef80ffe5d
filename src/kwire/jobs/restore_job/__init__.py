# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Restore: writes records from log files or an export to a live cluster exactly once.

``sources`` reads the records of a partition in offset order, ``target`` determines how
many records the cluster already contains, ``batches`` encodes the remaining records,
and ``job`` writes them. The guarantees and their conditions are documented in
``docs/operators/restore.md``.
"""
