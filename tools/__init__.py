# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that generate, check, test and release kwire.

Run them in the root directory.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""Root directory of the repository."""
