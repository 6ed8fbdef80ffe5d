# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write files of the repository from other files: schemas, stubs, pages, tables."""
