# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns, options and offsets that ``kafka-log`` and ``kafka-live`` share."""
