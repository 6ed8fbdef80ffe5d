# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Progress reports of streaming queries in all supported PySpark releases."""

from ast import literal_eval


def end_offsets(query):
    """Return the end offsets by batch. A batch without an end offset has None.

    The offset is a string: JSON, or a Python dict as text in PySpark 4.1.
    """
    texts = [progress["sources"][0]["endOffset"] for progress in query.recentProgress]
    return [
        None if text in (None, "null", "None") else literal_eval(text) for text in texts
    ]
