# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare reading topics of a running broker with other clients.

``python -m benchmarks live`` runs the measurements and writes the chapter. The broker
is started by ``tools/interop/broker``.
"""
