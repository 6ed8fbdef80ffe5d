# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The upgrade audit: which clients break when the brokers become another release.

In the order of the data: ``tasks`` reads captures and request logs, ``sightings`` sums
up what was seen of each client, ``verdicts`` judges a client, ``findings`` makes rows
of the judgements, ``page`` writes them down for people. ``job`` runs them.
"""
