# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Upgrade audit: detects clients that break when brokers are upgraded.

The modules correspond to the data flow: ``tasks`` reads captures and request logs,
``sightings`` counts the requests of every client, ``verdicts`` decides whether a client
breaks, ``findings`` converts the decisions to table rows, and ``page`` renders the HTML
report. ``job`` runs these steps.
"""
