# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of Kafka's bytes to columns of fields, and back, with pyarrow alone."""
