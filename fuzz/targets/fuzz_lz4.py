# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compresses and decompresses lz4 in Kafka's format, with a size limit."""

from fuzz import guided
from fuzz.targets import codec_target


def TestOneInput(data):
    """Check one input with the codec 3, which is lz4."""
    codec_target.judge(3, data)


if __name__ == "__main__":
    guided.main(TestOneInput, codec_target.MODULES)
