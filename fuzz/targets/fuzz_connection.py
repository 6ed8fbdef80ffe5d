# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Feeds bytes to a client or server connection: events or a documented error.

An input is a byte for the side, one for the options, one for the sizes of the pieces,
and the stream.
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
"""The bits of the second byte; with the last one a user acts at once."""


@cache
def table(package):
    """Make the table that both sides have."""
    return package.connection.negotiation.ApiVersionTable.from_ranges(OFFERED)


def client(package, side, options):
    """Make a client in some state."""
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
    """Feed a side; answer what it has to answer; list all that comes."""
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
    """Tell what an event says, without the way it is made."""
    names = getattr(type(event), "__match_args__", ())
    return type(event).__name__, *(getattr(event, name) for name in names)


def answer(package, made, event):
    """Do what a user of a connection does at an event."""
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
    """Judge one input."""
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
    # What a user does, SASL above all, counts for the pieces that come after it.
    if apart[0] == whole[0] == "value" and not mode & AT_ONCE:
        engines.equal("however it is split, events", apart[1][0], whole[1][0])
        engines.equal("however it is split, errors", apart[1][2], whole[1][2])


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
