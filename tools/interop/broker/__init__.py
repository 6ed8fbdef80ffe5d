# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Brokers and clusters of Kafka releases, and the checks that run on them."""
