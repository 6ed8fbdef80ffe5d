# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Interoperability tests of kwire's Spark sources and sinks."""
