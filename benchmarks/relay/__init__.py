# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the CPU time that ``kwire record`` needs per relayed exchange."""
