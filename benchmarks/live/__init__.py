# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures reading topics of a running broker, beside other clients.

``python -m benchmarks live`` measures and writes its chapter. The broker is that of
``tools/interop/broker``.
"""
