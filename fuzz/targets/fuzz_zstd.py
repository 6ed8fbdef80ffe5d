# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compresses and decompresses zstd in Kafka's format, with a size limit."""

from fuzz import guided
from fuzz.targets import codec_target


def TestOneInput(data):
    """Check one input with the codec 4, which is zstd."""
    codec_target.judge(4, data)


if __name__ == "__main__":
    guided.main(TestOneInput, codec_target.MODULES)
