# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The script of ``docs/operators/recording.md`` converts tshark output to captures.

The script is extracted from the page and runs on generated packets: out of order, sent
twice, split anywhere, in both time formats and both byte formats that tshark has.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kwire import messages
from kwire.messages import framing
from kwire.recording import read_captures

PAGE = Path(__file__).parents[2] / "docs" / "operators" / "recording.md"
EPOCH_S = 1_700_000_000
CLIENT, BROKER = ("10.0.0.7", "50123"), ("10.0.0.1", "9092")


def packet(number, stream, source, target, sequence, data, colons, iso):
    """Return a packet in the format of ``tshark -T json -e ...``."""
    moment = f"{EPOCH_S + number}.250000000"
    if iso:
        moment = f"2023-11-14T22:13:{20 + number}.250000000Z"
    fields = {
        "frame.time_epoch": moment,
        "tcp.stream": str(stream),
        "tcp.seq": str(sequence),
        "ip.src": source[0],
        "tcp.srcport": source[1],
        "ip.dst": target[0],
        "tcp.dstport": target[1],
        "tcp.payload": data.hex(":") if colons else data.hex(),
    }
    layers = {name: [value] for name, value in fields.items()}
    return {
        "_index": "packets-2023-11-14",
        "_type": "doc",
        "_source": {"layers": layers},
    }


@pytest.mark.parametrize(("colons", "iso"), [(True, False), (False, True)])
def test_packets_become_the_rows_of_a_capture(tmp_path, colons, iso):
    """The packets of two connections become rows with complete frames.

    A frame may need several segments, and a segment may contain several frames.
    """
    handshake = messages.SaslHandshakeRequest(mechanism="PLAIN")
    token = messages.SaslAuthenticateRequest(auth_bytes=b"\0shop\0sesame")
    requests = [
        framing.encode_request(messages.ApiVersionsRequest(), 3, 1, "shop"),
        framing.encode_request(handshake, 1, 2, "shop"),
        framing.encode_request(token, 2, 3, "shop"),
        framing.encode_request(messages.MetadataRequest(), 12, 4, "shop"),
    ]
    response = framing.encode_response(messages.ApiVersionsResponse(), 3, 1)
    stream = b"".join(requests)
    cuts = [stream[:9], stream[9:50], stream[50:60], stream[60:]]
    starts = [1, 10, 51, 61]
    answers = framing.encode_response(messages.MetadataResponse(), 12, 4)

    def sent(number, part, start):
        return packet(number, 0, CLIENT, BROKER, start, part, colons, iso)

    other_request = framing.encode_request(messages.MetadataRequest(), 9, 4, "other")
    elsewhere = ("10.0.0.8", "40000")
    packets = [
        sent(0, cuts[0], starts[0]),
        # The third segment arrives before the second one, and the first segment is
        # repeated.
        sent(1, cuts[2], starts[2]),
        sent(2, cuts[0], starts[0]),
        packet(3, 1, elsewhere, BROKER, 1, other_request, colons, iso),
        sent(4, cuts[1], starts[1]),
        sent(5, stream[40:], 41),
        packet(6, 0, BROKER, CLIENT, 1, response, colons, iso),
        packet(7, 0, BROKER, CLIENT, 1 + len(response), answers, colons, iso),
    ]
    source, target = tmp_path / "kafka.json", tmp_path / "kafka.parquet"
    source.write_text(json.dumps(packets))
    (code,) = re.findall(r"```python\n(import json\n.*?)```", PAGE.read_text(), re.S)
    script = tmp_path / "tshark_capture.py"
    script.write_text(code)
    command = [sys.executable, "-W", "error", script, source, target]
    subprocess.run(command, check=True, timeout=60)

    rows = [row for batch in read_captures(target) for row in batch.to_pylist()]
    summaries = [
        tuple(row[name] for name in ("connection", "direction", "api_key", "client_id"))
        for row in rows
    ]
    assert summaries == [
        (2, "request", 3, "other"),
        *[(1, "request", key, "shop") for key in (18, 17, 36, 3)],
        (1, "response", 18, "shop"),
        (1, "response", 3, "shop"),
    ]
    frames = [row["frame"] for row in rows]
    assert frames == [
        other_request[4:],
        requests[0][4:],
        requests[1][4:],
        None,
        requests[3][4:],
        response[4:],
        answers[4:],
    ]
    times = [row["timestamp"].timestamp() - EPOCH_S for row in rows]
    assert times[0] == 3.25 and times[-2:] == [6.25, 7.25]
    assert {row["client_address"] for row in rows} == {
        "10.0.0.7:50123",
        "10.0.0.8:40000",
    }
    assert {row["broker_address"] for row in rows} == {"10.0.0.1:9092"}
    assert [row["size"] for row in rows if row["frame"] is None] == [
        len(requests[2]) - 4
    ]
