# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Protocol designs that were proposed for Kafka and never released.

Every module implements one draft as its document describes it, and ``PROVENANCE``
identifies the document. ``schemas/`` contains the layouts in Kafka's message language.
Drafts are not registered: no API key refers to a draft class, and version negotiation
never chooses one. Import the required draft explicitly: ``from kwire.drafts import
kip35_api_versions_query``.

Released protocols do not belong here. May import: ``errors``, ``_limits``, ``schema``,
``_engine``, ``messages``, ``records``, ``connection``.
"""
