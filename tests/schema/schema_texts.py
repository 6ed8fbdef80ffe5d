# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes small schemas for tests."""

from __future__ import annotations


def write_request(fields: str, keys: str = "") -> str:
    """Return a DemoRequest schema with the given fields.

    ``keys`` contains additional message keys. ``@`` marks where the message starts,
    which ``test_rules`` uses to check error positions.
    """
    return f"""@{{
      "name": "DemoRequest", "type": "request", "apiKey": 7,
      "validVersions": "0-5", "flexibleVersions": "3+", {keys}
      "fields": [
        {fields}
      ]
    }}"""
