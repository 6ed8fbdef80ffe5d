# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What ``kwire record`` costs for each exchange that it relays."""
