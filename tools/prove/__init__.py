# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Show that the promises of SECURITY.md hold, and that the tests notice bugs."""
