# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClientConnection`` over a blocking socket.

Every wait ends after ``TIMEOUT_S`` with the socket's exception.
"""

from __future__ import annotations

import importlib
import socket

TIMEOUT_S = 10


class Wire:
    """Connection to a broker. ``with`` closes it.

    ``address`` is a (host, port) pair or a connected socket. ``options`` are passed to
    ``ClientConnection``.
    """

    def __init__(self, kwire, address, timeout_s=TIMEOUT_S, **options):
        """Open the connection. No data is sent yet."""
        self._module = importlib.import_module(f"{kwire.__name__}.connection")
        self.connection = self._module.ClientConnection(**options)
        if not isinstance(address, socket.socket):
            address = socket.create_connection(address)
        self.socket = address
        self.socket.settimeout(timeout_s)
        self._events = iter(())

    def __enter__(self):
        """Negotiate the versions with the broker."""
        if self.connection.table is None:
            self.wait_for("Negotiated")
        return self

    def __exit__(self, *exception):
        """Close the connection and the socket."""
        self.connection.close()
        self.socket.close()

    @property
    def table(self):
        """Versions that the broker supports."""
        return self.connection.table

    def next_event(self):
        """Send the pending bytes, and wait for the next event. Return the event."""
        while (event := next(self._events, None)) is None:
            if data := self.connection.data_to_send():
                self.socket.sendall(data)
            self._events = self.connection.receive_data(self.socket.recv(1 << 16))
        return event

    def wait_for(self, name):
        """Wait for the next event, and return it. Fail if it has another class name."""
        event = self.next_event()
        assert isinstance(event, getattr(self._module, name)), event
        return event

    def ask(self, request, version=None, **options):
        """Send one request, wait for its response, and return the response."""
        correlation_id = self.connection.send(request, version, **options)
        event = self.wait_for("ResponseReceived")
        assert event.correlation_id == correlation_id
        return event.response
