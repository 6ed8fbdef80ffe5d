# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Schemas of messages: Kafka's language, kwire's definitions, and the model of both."""
