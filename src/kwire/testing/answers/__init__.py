# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Responses of a test cluster: one function for each API.

A function receives a ``RequestContext``. It returns a response, or ``Waiting`` if the
response depends on a later event, or None if the client expects no response. It checks
in the same order as a broker, and returns the same error codes. Versions and layouts
are not described here: ``ServerConnection`` decodes requests and encodes responses.
"""
