# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""lz4 as Kafka frames it, under a size limit (``codec_target.py``)."""

from fuzz import guided
from fuzz.targets import codec_target


def TestOneInput(data):
    """Judge one input."""
    codec_target.judge(3, data)


if __name__ == "__main__":
    guided.main(TestOneInput, codec_target.MODULES)
