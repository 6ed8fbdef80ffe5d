# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Create small schemas in Kafka's JSON language for the importer tests."""

from __future__ import annotations

import json
from typing import Any


def schema(versions: str, *fields: dict[str, Any], **others: Any) -> str:
    """Format the schema of a request in Kafka's JSON language.

    ``others`` are JSON keys that replace or complement the default keys.
    """
    facts = {
        "name": "PingRequest",
        "type": "request",
        "apiKey": 200,
        "validVersions": versions,
        "flexibleVersions": "none",
        "fields": list(fields),
    }
    return json.dumps({**facts, **others})


def field(name: str, versions: str, type: str = "int32", **others: Any) -> Any:
    return {"name": name, "type": type, "versions": versions, **others}
