# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the text of a small schema, as a test changes it."""

from __future__ import annotations


def write_request(fields: str, more: str = "") -> str:
    """Write a request with these fields; ``@`` is where it begins."""
    return f"""@{{
      "name": "DemoRequest", "type": "request", "apiKey": 7,
      "validVersions": "0-5", "flexibleVersions": "3+", {more}
      "fields": [
        {fields}
      ]
    }}"""
