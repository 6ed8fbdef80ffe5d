# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes small schemas for tests."""

from __future__ import annotations


def write_request(fields: str, keys: str = "") -> str:
    """Return the schema of a message DemoRequest with the given fields.

    * ``fields``: text of the fields.
    * ``keys``: text of additional message keys.

    The schema contains ``@`` where the message starts. ``test_rules`` uses it to check
    error positions.
    """
    return f"""@{{
      "name": "DemoRequest", "type": "request", "apiKey": 7,
      "validVersions": "0-5", "flexibleVersions": "3+", {keys}
      "fields": [
        {fields}
      ]
    }}"""
