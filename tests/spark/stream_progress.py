# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What a streaming query reports of its batches, on every PySpark."""

from ast import literal_eval


def end_offsets(query):
    """Return the offset at the end of each batch; None where there is none.

    It is text: JSON, or what Python writes for a dict on PySpark 4.1.
    """
    texts = [each["sources"][0]["endOffset"] for each in query.recentProgress]
    return [
        None if text in (None, "null", "None") else literal_eval(text) for text in texts
    ]
