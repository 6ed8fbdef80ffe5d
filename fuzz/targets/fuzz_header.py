# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes frames with headers, messages with a version prefix, and internal topics.

An input consists of a byte for the kind, a byte with options, three bytes for a message
and its version, if the data does not contain them, and the data.
"""

from fuzz import engines, guided

MODULES = (
    "messages.framing",
    "messages.codec",
    "messages",
    "messages.internal_topics",
    "messages.control_records",
    "messages.prefixed",
    "schema.registry",
    "explain",
)
JAVA, ZERO_COPY = 1, 2


def request(package, data, options):
    """Decode a request frame with its header. Returns the header and the request."""
    return package.messages.framing.decode_request(data, **options)


def request_again(package, data):
    """Decode a request, encode it again, and decode the result.

    Returns the encoded bytes.
    """
    header, message = package.messages.framing.decode_request(data)
    version = header.request_api_version
    written = package.messages.framing.encode_request(
        message, version, header.correlation_id, header.client_id
    )
    again = package.messages.framing.decode_request(written[4:])
    engines.equal("a request", engines.neutral(again[1]), engines.neutral(message))
    return written


def request_map(package, data):
    """Return the spans of a request's byte map, and the details of its error."""
    found = package.explain.frame_map(data)
    return found.spans, found.error and engines.facts(package, found.error, len(data))


def response(package, data, name, version, options):
    """Decode a response frame with its header.

    Returns the correlation id and the response.
    """
    cls = getattr(package.messages, name)
    return package.messages.framing.decode_response(cls, data, version, **options)


def response_again(package, data, name, version):
    """Decode a response, encode it again, and decode the result.

    Returns the encoded bytes.
    """
    cls = getattr(package.messages, name)
    correlation_id, message = package.messages.framing.decode_response(
        cls, data, version
    )
    written = package.messages.framing.encode_response(message, version, correlation_id)
    again = package.messages.framing.decode_response(cls, written[4:], version)
    engines.equal("a response", engines.neutral(again[1]), engines.neutral(message))
    return written


def prefixed(package, data, name, options):
    """Decode a message that follows its version, which is an INT16."""
    cls = getattr(package.messages, name)
    return package.messages.framing.decode_prefixed(cls, data, **options)


def internal(package, key, value, topic, options):
    """Decode the key and the value of a record in the internal topic ``topic``."""
    return package.messages.internal_topics.decode(topic, key, value, **options)


def control(package, key, value):
    """Decode a control record. Returns its type, the type's name and its message."""
    read = engines.module(package, "messages.control_records").decode_control_record
    found = read(key, value)
    return found.type, found.type_name, found.message


def parts(data):
    """Split data into a key and a value.

    The first byte is the size of the key, or 255 for a null key. The value ``null`` is
    a null value.
    """
    size, data = data[0] if data else 255, data[1:]
    key = None if size == 255 else data[:size]
    value = data if key is None else data[size:]
    return key, None if value == b"null" else value


def TestOneInput(data):
    """Decode one input as the kind of data that its first byte selects."""
    if len(data) < 5:
        return
    kwire = engines.packages()[0]
    kind, mode, data, head = data[0] % 5, data[1], data[5:], data[2:5]
    name = engines.message_at(head[:2])
    options = {"zero_copy": bool(mode & ZERO_COPY)}
    if mode & JAVA:
        options["compat"] = "java"
    size = len(data)
    again = None
    if kind == 0:
        said = engines.agree(request, data, options, size=size)
        if not mode & JAVA:
            error = engines.agree(request_map, data)[1][1]
            wrong = engines.neutral(said[1] if said[0] == "error" else None)
            engines.equal("the error of the map", error, wrong)
        if said[0] == "value" and not mode & JAVA:
            again = engines.agree(request_again, data)
    elif kind == 1 and getattr(kwire.messages, name).kind == "response":
        version = engines.version_at(kwire, name, head[2])
        said = engines.agree(response, data, name, version, options, size=size)
        if said[0] == "value" and not mode & JAVA:
            again = engines.agree(response_again, data, name, version)
    elif kind == 2:
        engines.agree(prefixed, data, name, options, size=size)
    elif kind == 3:
        topics = kwire.messages.internal_topics.TOPICS
        topic = topics[head[2] % len(topics)]
        engines.agree(internal, *parts(data), topic, options, size=size)
    elif kind == 4:
        engines.agree(control, *parts(data), size=size)
    if again is not None:
        engines.equal("what decodes can be encoded", again[0], "value")


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
