# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The values that every contender encodes and decodes. Imports no contender."""
