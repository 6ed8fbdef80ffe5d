# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the brokers of ``kwire.testing`` with real brokers and foreign clients."""
