# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare producers with other clients, on a broker of ``tools/interop/broker``.

``python -m benchmarks producer`` runs the measurements and writes the chapter.
"""
