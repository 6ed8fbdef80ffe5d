# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of several folders share: inputs, measures and the run itself."""
