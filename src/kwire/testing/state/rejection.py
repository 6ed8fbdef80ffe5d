# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Rejected``: a change that brokers refuse, with the error of the response."""

from __future__ import annotations


class Rejected(Exception):
    """A change that brokers refuse.

    * ``code``: error code of the response. The text of the exception is its error
      message.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
