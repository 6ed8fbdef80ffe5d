# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m fuzz.replay TARGET FILE...``: checks inputs once, without atheris."""

import sys
from pathlib import Path

from fuzz import corpus, guided

if __name__ == "__main__":
    judge = corpus.judge(sys.argv[1])
    for path in sys.argv[2:]:
        guided.measured(judge, Path(path).read_bytes())
