# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reference programs that run Kafka's own classes to write and verify test vectors."""
