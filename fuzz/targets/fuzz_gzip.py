# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compresses and decompresses gzip in Kafka's format, with a size limit."""

from fuzz import guided
from fuzz.targets import codec_target


def TestOneInput(data):
    """Check one input with the codec 1, which is gzip."""
    codec_target.judge(1, data)


if __name__ == "__main__":
    guided.main(TestOneInput, codec_target.MODULES)
