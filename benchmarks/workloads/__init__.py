# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Values that all contenders encode and decode. No contender is imported here."""
