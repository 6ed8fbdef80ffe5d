# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Restore: the records of logs or of an export go to a live cluster, each once.

``sources`` reads the records of a partition in order, ``target`` finds out how many of
them the cluster has, ``batches`` makes batches of the others, and ``job`` writes them.
``docs/operators/restore.md`` explains what holds, and on which condition.
"""
