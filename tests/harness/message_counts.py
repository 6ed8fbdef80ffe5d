# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""How many messages Kafka has, for tests and documentation pages.

The numbers are updated by hand for a new Kafka release, so that a lost message is
detected. ``test_message_counts`` compares them with the definitions, and with all pages
that mention the numbers or the newest release.
"""

MESSAGES = 292
PAIRS = 879
"""Number of (message, version) pairs."""
