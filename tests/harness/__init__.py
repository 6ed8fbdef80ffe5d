# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Shared infrastructure of the tests: inputs, measurements and pytest plugins."""
