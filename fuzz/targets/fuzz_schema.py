# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses text as a schema, which must return a message class or raise ``SchemaError``.

An input consists of a byte with the body size, the body, and the schema text. The
resulting class decodes the body and encodes the message again, in up to four versions.
"""

from fuzz import engines, guided

MODULES = ("schema.language", "schema.json_text", "messages.codec", "schema.plan")
MOST_VERSIONS = 4


def shape(package, text):
    """Create a message class from a schema, and return its properties."""
    cls = package.messages.message_class(text)
    versions = list(cls.valid_versions)[:MOST_VERSIONS]
    return cls.__name__, cls.api_key, cls.kind, versions, repr(cls())


def build_and_use(package, text, body):
    """Create a message class from a schema, and decode and encode bytes with it.

    Returns the outcome for each of the first versions.
    """
    cls = package.messages.message_class(text)
    said = []
    for version in list(cls.valid_versions)[:MOST_VERSIONS]:
        try:
            message = package.decode(cls, body, version)
        except package.errors.SchemaError as error:
            # kwire does not support some layouts that Kafka's language allows.
            said.append(engines.facts(package, error))
            continue
        except package.errors.DecodeError as error:
            said.append(engines.facts(package, error, len(body)))
        else:
            written = package.encode(message, version)
            again = package.encode(package.decode(cls, written, version), version)
            engines.equal("encoded again", again, written)
            said.append(written)
        try:
            said.append(package.encode(cls(), version))
        except package.errors.EncodeError as error:
            said.append(engines.facts(package, error))
    return said


def TestOneInput(data):
    """Parse one input as a schema, use the message class, and compare both engines."""
    if not data:
        return
    size = data[0] % 64
    body = data[1 : 1 + size]
    text = data[1 + size :].decode("utf-8", "replace")
    if engines.agree(shape, text)[0] == "value":
        said = engines.agree(build_and_use, text, body)
        engines.equal("what decodes can be encoded", said[0], "value")


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
