# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""How many messages Kafka has, for tests and pages.

A new Kafka release changes these two numbers by hand, so that a message that gets lost
is noticed. ``test_message_counts`` compares them with the definitions, and each page
that names them or the newest release with them.
"""

MESSAGES = 292
PAIRS = 879
"""Pairs of a message and one of its versions."""
