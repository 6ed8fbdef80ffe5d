# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generate repository files: schema definitions, stubs, documentation and tables."""
