# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to the requests of transactional producers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema import error_codes

if TYPE_CHECKING:
    from ...records import Batch
    from ..state.topic import Partition
    from .context import RequestContext


def admit_batch(context: RequestContext, partition: Partition, batch: Batch) -> int:
    """Check a transactional batch before it is appended; return an error code."""
    return error_codes.NONE
