# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Progress reports of streaming queries in all supported PySpark releases."""

from ast import literal_eval


def end_offsets(query):
    """Return the end offset of every micro-batch of a query, by batch number.

    The offset is None if the progress report has none. The report contains JSON, or in
    PySpark 4.1 the text of a Python dict.
    """
    texts = [progress["sources"][0]["endOffset"] for progress in query.recentProgress]
    return [
        None if text in (None, "null", "None") else literal_eval(text) for text in texts
    ]
