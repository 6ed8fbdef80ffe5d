# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Brings kwire to the workers of a cluster: archives, and the Python of a worker."""
