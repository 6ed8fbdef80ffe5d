# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that generate, check, test and release kwire. Run them from the root."""
