# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Schemas of messages: Kafka's language, kwire's definitions, and the model of both.

``message_class`` turns any text in Kafka's message language into a class that
encodes and decodes on the active engine.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def message_class(text: str) -> type[Any]:
    """Build a message class from a schema in Kafka's JSON message language.

    Comments, coerced scalars and ``commonStructs`` are understood as Kafka's own
    generator understands them. Raises ``SchemaError`` with the position, the field
    and the rule for a text that the generator would refuse. The class belongs to the
    caller: it is in no registry, and two calls give two classes. On the compiled engine
    a class stays in memory until the process ends, some 5 kB of it: keep what you made.
    A version in which elements of an array would take no bytes cannot be read safely:
    using it raises ``SchemaError``, the rule being ``empty-element``. Structs within
    structs may make 65,536 fields of a message, each counted at each of its uses; more
    are refused by the rule ``layout-too-large``, as a default would hold them all.
    Time is linear in the text.
    Source: ``org.apache.kafka.message.MessageSpec``.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str (got {type(text).__name__})")
    from .. import codec
    from . import language

    return codec.build_class(language.read_message(text))
