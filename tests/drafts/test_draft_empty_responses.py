# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Convert empty responses with size 0 outside connections, in both directions.

For correlation id 7, the draft has ``00000000 00000007``, and connections have
``00000004 00000007``.
"""

import importlib

import pytest

CONNECTION = bytes.fromhex("00000004 00000007")
LITERAL = bytes.fromhex("00000000 00000007")
OTHERS = bytes.fromhex("00000001 00 00000005 0000000007 00000008 0000000000000004")


@pytest.fixture
def converter(kwire):
    """Return the class ``EmptyResponses``, which converts streams."""
    module = importlib.import_module(f"{kwire.__name__}.drafts.empty_responses")
    return module.EmptyResponses


def convert(converter, data, size):
    """Convert a stream in ``size``-byte pieces.

    Each converted piece must have as many bytes as its input.
    """
    pieces = [
        data[position : position + size] for position in range(0, len(data), size)
    ]
    converted = [converter.convert(piece) for piece in pieces]
    assert [len(piece) for piece in converted] == [len(piece) for piece in pieces]
    return b"".join(converted)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 100])
def test_sizes_of_empty_responses_change_and_nothing_else(converter, size):
    """Bytes in other frames that look like an empty response are unchanged."""
    literal = OTHERS + LITERAL + LITERAL + OTHERS + LITERAL
    expected = literal.replace(LITERAL, CONNECTION)
    assert convert(converter.reader(), literal, size) == expected
    assert convert(converter.writer(), expected, size) == literal


def test_a_size_that_is_not_valid_stays(converter):
    """The connection then reports the invalid size."""
    for data in (b"\xff\xff\xff\xff" + LITERAL, b"HTTP/1.1 400" + LITERAL):
        assert converter.reader().convert(data) == data


@pytest.mark.parametrize("size", [1, 3, 4, 5, 100])
def test_empty_responses_of_the_draft_keep_the_connection_usable(
    kwire, converter, size
):
    """Both sides use a converter, and the connection remains usable."""
    connection = kwire.connection
    table = kwire.connection.negotiation.ApiVersionTable.from_ranges(
        {1: (0, 11), 3: (0, 8)}
    )
    client = connection.ClientConnection("kw", table=table)
    client.send(kwire.messages.FetchRequest())
    client.send(kwire.messages.MetadataRequest())
    served = kwire.connection.negotiation.ApiVersionTable.from_ranges({3: (0, 8)})
    server = connection.ServerConnection(served, on_unsupported="empty")
    _, request_event = server.receive_data(client.data_to_send())
    server.send(request_event, kwire.messages.MetadataResponse())
    wire = converter.writer().convert(server.data_to_send())
    assert wire[:8] == bytes(8)
    reader, events = converter.reader(), []
    for position in range(0, len(wire), size):
        events += client.receive_data(reader.convert(wire[position : position + size]))
    unsupported, response = events
    assert isinstance(unsupported, connection.RequestUnsupported)
    assert str(unsupported.error) == "Fetch version 11: request not supported by server"
    assert isinstance(response, connection.ResponseReceived) and client.is_open


def test_a_size_without_an_id_is_taken_for_the_beginning(kwire, converter):
    """The next size is read as the id, which belongs to no request in flight."""
    table = kwire.connection.negotiation.ApiVersionTable.from_ranges({1: (0, 11)})
    client = kwire.connection.ClientConnection("kw", table=table)
    client.send(kwire.messages.FetchRequest())
    with pytest.raises(kwire.RemoteProtocolError, match="correlation id 9, which no"):
        list(client.receive_data(converter.reader().convert(bytes(4) + b"\0\0\0\x09")))
