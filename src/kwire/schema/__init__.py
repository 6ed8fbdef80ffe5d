# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about Kafka: definitions, releases, error codes, batch layouts and plans.

``definitions`` and ``facts`` contain the facts as text, and ``registry`` and
``releases`` read them on first use. ``language`` and ``rules`` read and check Kafka's
own schema files. ``plan`` resolves one version of a message. Code that reads data of
users does not belong here.
May import: ``errors``.
"""
