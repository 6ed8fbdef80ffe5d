# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-live``: the topics of live brokers as tables, streams and sinks."""
