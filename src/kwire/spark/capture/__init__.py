# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-capture`` and ``kafka-request-log``: recorded traffic as tables."""
