# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The commands: one file each, its ``command`` is what ``kwire <file's name>`` runs."""
