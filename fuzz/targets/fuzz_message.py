# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes, encodes and decodes again the bodies of all messages in all versions.

An input consists of two bytes that select the message, one byte for the version, one
byte with options, and the body.
"""

from fuzz import engines, guided

MODULES = ("messages.codec", "messages", "messages.json_form", "explain")
JAVA, ZERO_COPY, JSON, MAP = 1, 2, 4, 8
"""Options: bits of the fourth byte of an input."""


def decode(package, name, version, body, options):
    """Decode the body of a message."""
    return package.decode(getattr(package.messages, name), body, version, **options)


def encoded_again(package, name, version, body):
    """Decode the body of a message, and encode the message again.

    Returns the encoded bytes. Raises ``Finding`` if decoding or encoding them again
    changes the result.
    """
    cls = getattr(package.messages, name)
    message = package.decode(cls, body, version)
    data = package.encode(message, version)
    again = package.decode(cls, data, version)
    engines.equal("decoded again", engines.neutral(again), engines.neutral(message))
    engines.equal("encoded again", package.encode(again, version), data)
    return data


def through_json(package, name, version, body):
    """Convert a message to JSON and back. Returns its JSON form.

    Raises ``Finding`` if this changes the message.
    """
    cls = getattr(package.messages, name)
    message = package.decode(cls, body, version)
    form = package.to_json(message, version)
    again = package.from_json(cls, form, version)
    # Compare JSON instead of messages, because Kafka's JSON format omits unknown tags
    # and has only one NaN.
    engines.equal("through JSON", package.to_json(again, version), form)
    return form


def mapped(package, name, version, body):
    """Return the spans of the byte map of a body, and the details of its error."""
    found = package.explain.byte_map(getattr(package.messages, name), body, version)
    error = found.error and engines.facts(package, found.error, len(body))
    return found.spans, error


def TestOneInput(data):
    """Decode one input, encode it again, convert it to JSON, and compare engines."""
    if len(data) < 4:
        return
    name = engines.message_at(data[:2])
    version = engines.version_at(engines.packages()[0], name, data[2])
    mode, body = data[3], data[4:]
    options = {"zero_copy": bool(mode & ZERO_COPY)}
    if mode & JAVA:
        options["compat"] = "java"
    arguments = name, version, body
    said = engines.agree(decode, *arguments, options, size=len(body))
    if mode & MAP:
        _, (_, error) = engines.agree(mapped, *arguments)
        if not mode & JAVA:
            expected = engines.neutral(said[1] if said[0] == "error" else None)
            engines.equal("the error of the map", error, expected)
    if said[0] == "value" and not mode & JAVA:
        again = engines.agree(encoded_again, *arguments)
        engines.equal("what decodes can be encoded", again[0], "value")
        if mode & JSON:
            form = engines.agree(through_json, *arguments)
            engines.equal("what decodes has a JSON form", form[0], "value")


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
