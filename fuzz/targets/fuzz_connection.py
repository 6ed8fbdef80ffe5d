# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Passes bytes to a client or server connection, which must return events or an error.

An input consists of a byte that selects the side, a byte with options, a byte for the
piece size, and the stream.
"""

from functools import cache

from fuzz import engines, guided

MODULES = (
    "connection",
    "connection.negotiation",
    "messages.framing",
    "messages",
    "schema.registry",
    "drafts.empty_responses",
)
OFFERED = {0: (0, 8), 1: (0, 11), 3: (0, 9), 12: (0, 4), 17: (0, 1), 18: (0, 4)}
SIDES = ("asking", "waiting", "signing", "drafting", "serving", "emptying")
JAVA, ZERO_COPY, SMALL, AT_ONCE = 1, 2, 4, 8
"""Option bits of the second byte.

``AT_ONCE``: the user reacts to an event immediately.
"""


@cache
def table(package):
    """Return the version table that the client and the server use."""
    return package.connection.negotiation.ApiVersionTable.from_ranges(OFFERED)


def client(package, side, options):
    """Return a client connection in the state that ``side`` names."""
    connection = package.connection
    if side == "asking":
        return connection.ClientConnection("fuzz", **options)
    made = connection.ClientConnection("fuzz", table=table(package), **options)
    if side == "signing":
        made.start_sasl("PLAIN")
        return made
    messages = package.messages
    for request, version in (
        (messages.MetadataRequest(topics=None), 9),
        (messages.ProduceRequest(acks=0, timeout_ms=1, topic_data=[]), 8),
        (messages.HeartbeatRequest(group_id="g", member_id="m"), 4),
        (messages.FetchRequest(), 11),
    ):
        made.send(request, version)
    return made


MODES = {"serving": "close", "emptying": "empty"}


def conversation(package, side, options, pieces, at_once):
    """Pass pieces of a stream to a connection, and react to its events.

    * ``at_once``: react to each event immediately instead of after all pieces.

    Returns the events, the sent bytes, the error or None, and the connection's
    ``repr``.
    """
    limits = package.Limits(frame_bytes=4096 if options.pop("small") else 1 << 20)
    options["limits"] = limits
    connection = package.connection
    if side in MODES:
        made = connection.ServerConnection(
            table(package), on_unsupported=MODES[side], **options
        )
    else:
        made = client(package, side, options)
    events, sent = [], [made.data_to_send()]
    if side == "drafting":
        drafts = engines.module(package, "drafts.empty_responses")
        pieces = map(drafts.EmptyResponses.reader().convert, pieces)
    try:
        for piece in pieces:
            for event in made.receive_data(piece):
                events.append(event_values(event))
                if at_once:
                    answer(package, made, event)
            sent.append(made.data_to_send())
    except package.errors.KwireError as error:
        return events, sent, engines.facts(package, error), repr(made)
    return events, sent, None, repr(made)


def event_values(event):
    """Return the type and the fields of an event."""
    names = getattr(type(event), "__match_args__", ())
    return type(event).__name__, *(getattr(event, name) for name in names)


def answer(package, made, event):
    """React to an event of the connection ``made``, as its user would."""
    connection = package.connection
    if not made.is_open:
        return
    if isinstance(event, connection.RequestReceived) and event.expects_response:
        key = type(event.request).api_key
        made.send(event, package.messages.by_key(key, "response")())
    elif isinstance(event, connection.SaslStarted):
        made.send_sasl_token(b"token")
    elif isinstance(event, connection.SaslToken) and not isinstance(
        made, connection.ServerConnection
    ):
        made.finish_sasl()


def TestOneInput(data):
    """Pass one input to a connection in pieces and as a whole. Compares engines."""
    if len(data) < 3:
        return
    side, mode, size = SIDES[data[0] % len(SIDES)], data[1], data[2] + 1
    data = data[3:]

    def talk(package, pieces):
        options = {
            "zero_copy": bool(mode & ZERO_COPY),
            "compat": "java" if mode & JAVA else None,
            "small": bool(mode & SMALL),
        }
        return conversation(package, side, options, pieces, bool(mode & AT_ONCE))

    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    apart = engines.agree(talk, pieces)
    whole = engines.agree(talk, [data] if data else [])
    # The user's reactions, especially during SASL, affect how later pieces are
    # processed, so the outcomes are only comparable without immediate reactions.
    if apart[0] == whole[0] == "value" and not mode & AT_ONCE:
        engines.equal("however it is split, events", apart[1][0], whole[1][0])
        engines.equal("however it is split, errors", apart[1][2], whole[1][2])


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
