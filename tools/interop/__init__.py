# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare kwire with Kafka's classes, brokers, clients and Spark, and with browsers."""
