# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The work of the functions: columns of bytes to columns of fields, and back."""
