# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The drafts: protocols that were proposed for Kafka and never released.

Each module runs one draft as its document wrote it, and its ``PROVENANCE`` says
which. Nothing here is in the registry: no API key finds a draft's classes, and no
negotiation of today's Kafka leads to one. Import the draft that you want::

    from kwire.drafts import kip35_c

``schemas/`` holds the layouts in Kafka's message language, ``schemas.py`` loads them.
"""
