# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""From Kafka's bytes to reports: ``python -m examples.pipeline``.

``traffic`` and ``old_client`` make traffic, which ``kwire record`` keeps, ``frames``
checks it; ``brokers`` copies the disks of a real broker and damages them; the three
jobs run over both, and ``race`` is about speed. ``__main__`` puts that in a row.
"""
