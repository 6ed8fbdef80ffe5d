# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Delays Ctrl-C while an interrupted step would leave a damaged file.

The exit code and the output after Ctrl-C are determined by the command and by
``main.py``.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def delay_interrupt() -> Iterator[None]:
    """Run a ``with`` block to its end before Ctrl-C takes effect.

    SIGINT signals that arrive during the block are raised again after it. Signal
    handlers can only be replaced in the main thread: in other threads, and if the
    current handler was not installed by Python, the block runs unprotected.
    """
    previous_handler = signal.getsignal(signal.SIGINT)
    if (
        previous_handler is None
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return
    pending_signals: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pending_signals.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)
    if pending_signals:
        signal.raise_signal(signal.SIGINT)
