# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Captures with simulated clients, in the format that ``kwire record`` writes.

A ``Talk`` is one connection. Requests and responses are frames that kwire encodes. The
test chooses the clients, the order and the versions.
"""

from __future__ import annotations

import itertools

import pyarrow as pa
import pyarrow.parquet

from kwire.messages import ApiVersionsRequest, ApiVersionsResponse, framing
from kwire.recording import capture_schema
from kwire.schema import releases

START = 1_790_000_000_000_000
"""Timestamp of the first frame, in microseconds."""


class Capture:
    """Ordered frames in one recording. ``write`` stores the frames in a file."""

    def __init__(self, recording="made"):
        self.recording = recording
        self.rows = []
        self._connections = itertools.count(1)

    def talk(self, client, broker="10.9.9.1:9092", client_id="made"):
        """Open a connection from ``client`` to ``broker``, both as "host:port".

        Return its Talk.
        """
        return Talk(self, next(self._connections), client, broker, client_id)

    def add(self, **values):
        """Append a row with the columns ``values``.

        The sequence number is the row index. Timestamps increase by one millisecond per
        row.
        """
        sequence = len(self.rows)
        row = {"recording": self.recording, "sequence": sequence, "rewritten": False}
        self.rows.append(row | {"timestamp": START + sequence * 1000} | values)

    def write(self, path):
        """Write all rows to one Parquet file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_pylist(self.rows, schema=capture_schema())
        pyarrow.parquet.write_table(table, path)
        return path


class Talk:
    """One connection between a client and a broker in a capture.

    Its methods append requests, responses and raw bytes to the capture.
    """

    def __init__(self, capture, number, client, broker, client_id):
        self._capture = capture
        self._place = {
            "connection": number,
            "client_address": client,
            "broker_address": broker,
        }
        self._client_id = client_id
        self._numbers = itertools.count(1)

    def ask(self, request, version, answer=None, answered_in=None):
        """Append a request and, unless ``answer`` is None, its response.

        ``answered_in`` is the response version if it differs from the request version.
        """
        number = next(self._numbers)
        frame = framing.encode_request(
            request, version, correlation_id=number, client_id=self._client_id
        )[4:]
        columns = {
            "api_key": type(request).api_key,
            "api_version": version,
            "correlation_id": number,
            "client_id": self._client_id,
        }
        self.raw("request", frame, **columns)
        if answer is not None:
            version = version if answered_in is None else answered_in
            frame = framing.encode_response(answer, version, correlation_id=number)[4:]
            self.raw("response", frame, **columns)
        return self

    def raw(self, direction, frame, **fields):
        """Append a frame of unchecked bytes.

        If ``frame`` is None, the row has no bytes, as for a frame that contains a
        secret.
        """
        size = 0 if frame is None else len(frame)
        values = {"direction": direction, "frame": frame, "size": size}
        self._capture.add(**self._place, **values, **fields)
        return self

    def ask_versions(self, version, release, software=("", "")):
        """Append an ApiVersions request, and the response of a broker of ``release``.

        ``software`` is the name and version of the client library.
        """
        request = ApiVersionsRequest(
            client_software_name=software[0], client_software_version=software[1]
        )
        served = releases.ranges(release, releases.usual_listener(release))
        offered = ApiVersionsResponse(
            api_keys=[
                ApiVersionsResponse.ApiVersion(
                    api_key=key, min_version=versions.min, max_version=versions.max
                )
                for key, versions in served.items()
            ]
        )
        if version in served[ApiVersionsRequest.api_key]:
            return self.ask(request, version, offered)
        self.ask(request, version, ApiVersionsResponse(error_code=35), answered_in=0)
        return self.ask(ApiVersionsRequest(), 0, offered)
