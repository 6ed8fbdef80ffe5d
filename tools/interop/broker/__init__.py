# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Kafka brokers and clusters of many releases, and live checks that use them."""
