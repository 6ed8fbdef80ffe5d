# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The tests: a folder for each package of kwire, and for what crosses them."""
