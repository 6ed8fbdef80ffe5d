# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Processes, rounds, tables and chapters shared by all questions."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Repository root directory."""
