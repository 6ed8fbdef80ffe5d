# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the CPU time for printing a topic with ``kwire read`` and with kcat."""
