# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Producers beside those of other clients, on a broker of ``tools/interop/broker``.

``python -m benchmarks producer`` measures and writes its chapter.
"""
