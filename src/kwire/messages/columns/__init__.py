# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes and encodes columns of Kafka messages, using only pyarrow."""
