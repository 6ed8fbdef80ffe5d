# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire read`` beside kcat: the CPU time of printing a topic."""
