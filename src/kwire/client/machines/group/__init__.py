# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State machines of a group consumer: ownership, membership and committed offsets.

``machine.py`` combines them with the fetcher of ``scan``. ``member.py`` implements the
group protocol of KIP-848.
"""
