# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Designs that were proposed for Kafka and never released.

Each module runs one draft as its document wrote it, and its ``PROVENANCE`` names the
document. ``schemas/`` has the layouts in Kafka's message language. Nothing here is in
the registry: no API key finds a class of a draft, and no negotiation chooses one.
Import the draft that you need: ``from kwire.drafts import kip35_api_versions_query``.
Released protocols do not belong here. May import: ``errors``, ``_limits``,
``schema``, ``_engine``, ``messages``, ``records``, ``connection``.
"""
