# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Producers beside those of other clients, on a broker of ``tools/broker``.

``python -m benchmarks producer`` measures and writes its chapter.
"""

import sys

from benchmarks.harness.worker import ROOT

sys.path.append(str(ROOT / "tools" / "broker"))
