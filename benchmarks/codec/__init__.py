# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What ``make bench`` measures: messages, records, connections and the start."""
