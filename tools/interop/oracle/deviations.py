# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parse the documented differences from Kafka in ``docs/project/deviations.md``.

Every section of the page is an entry. This module parses the page, looks up the entry
that covers an observed difference, and decodes the example inputs with kwire. It does
not require Java. ``leniency.py`` runs Kafka's decoders.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

PAGE = Path(__file__).resolve().parents[3] / "docs" / "project" / "deviations.md"
MOST = 10
"""Maximum number of documented entries."""
CANNOT_WRITE = "reads it, but cannot write it"
_SAYS = re.compile(r"^\* (Kafka|kwire|Why): (.*?)(?=\n\* |\n\n)", re.S | re.M)
_BLOCK = re.compile(r"```toml\n(.*?)```", re.S)


class Example(NamedTuple):
    """Input that demonstrates an entry.

    If ``message`` is empty, the input contains record batches. The expected results
    are:

    * ``kwire``: result of strict decoding.
    * ``java``: result of decoding with ``compat="java"``.
    * ``kafka``: result of Kafka's decoder.

    A result is an error with its byte offset, the JSON form of a message, or selected
    fields of the first batch together with the number of records.
    """

    input: bytes
    kwire: Any
    kafka: Any
    java: Any = None
    message: str = ""
    version: int = 0

    def title(self) -> str:
        """Message, version and the first 24 bytes of the example in hexadecimal."""
        what = f"{self.message} v{self.version}" if self.message else "records"
        return f"{what} {self.input[:24].hex()}"


class Deviation(NamedTuple):
    """Documented difference between kwire and Kafka.

    * ``kafka``, ``kwire``: behaviour of each implementation.
    * ``why``: reason for the difference.
    * ``messages``, ``records``: regular expressions, which match the descriptions of
      the differences that this entry covers.
    """

    name: str
    kafka: str
    kwire: str
    why: str
    messages: tuple[str, ...]
    records: tuple[str, ...]
    examples: tuple[Example, ...]


def read(text: str) -> list[Deviation]:
    """Parse the entries of the page.

    Raises ``ValueError`` with the name of the entry if a required part is missing.
    """
    return [_entry(*part.split("\n", 1)) for part in text.split("\n## ")[1:]]


def _entry(name: str, text: str) -> Deviation:
    said = {key: " ".join(value.split()) for key, value in _SAYS.findall(text)}
    blocks = _BLOCK.findall(text)
    if said.keys() != {"Kafka", "kwire", "Why"} or len(blocks) != 1:
        raise ValueError(
            f"{name!r} needs '* Kafka:', '* kwire:', '* Why:' and one block of toml"
        )
    block = tomllib.loads(blocks[0])
    examples = tuple(_example(row) for row in block.pop("example", ()))
    messages = tuple(block.pop("messages", ()))
    records = tuple(block.pop("records", ()))
    if block or not examples or not messages + records:
        raise ValueError(
            f"{name!r} needs patterns, examples, and nothing else: {[*block]}"
        )
    said = {key.lower(): value for key, value in said.items()}
    return Deviation(
        name, messages=messages, records=records, examples=examples, **said
    )


def _example(row: dict[str, Any]) -> Example:
    data = bytes.fromhex(row.pop("input"))
    if "message" not in row:
        return Example(data, **row)
    row["kwire"] = _outcome(row.pop("strict"))
    row["java"] = _outcome(row["java"])
    row["kafka"] = _outcome(row["kafka"]) if "kafka" in row else row["java"]
    return Example(data, **row)


def _outcome(text: str) -> Any:
    return json.loads(text) if text.startswith("{") else text


def name_of(
    text: str, deviations: Iterable[Deviation], kind: str = "messages"
) -> str | None:
    """Return the name of the first entry whose patterns match a difference, or None.

    ``kind`` selects the patterns: "messages" or "records".
    """
    for one in deviations:
        if any(re.search(pattern, text) for pattern in getattr(one, kind)):
            return one.name
    return None


def describe_error(error: Any, layout: Any) -> str:
    """Describe a decoding error in the form that the patterns of the page match.

    ``layout`` is the plan for the message version. The description ends with "in a tag"
    if the invalid bytes are inside a tagged field, with "in a section" if they are
    inside a tag section, and with "over 2^31" if a length is that large.
    """
    from kwire.schema import plan

    text = f"{type(error).__name__}: {error.reason}, {error.path} byte {error.offset}"
    for attribute in re.findall("[a-z_][a-z_0-9]*", error.path):
        steps = [step for step in layout.steps if step.attribute == attribute]
        if not steps or steps[0].place == plan.TAGGED:
            text += " in a tag" if steps else " in a section"
            break
        layout = steps[0].plan
    # The reason contains the number of missing bytes: the length minus the available
    # bytes. An input has up to 1 MiB, so subtract 1 MiB from the threshold.
    if any(int(n) > 2**31 - 2**20 for n in re.findall(r"\d+", error.reason)):
        text += " over 2^31"
    return text


def done_by_kwire(kwire: ModuleType, example: Example, compat: str | None) -> Any:
    """Decode an example with kwire. Returns the result in the format of the page.

    ``compat`` is "java" or None.
    """
    try:
        if example.message:
            cls = getattr(kwire.messages, example.message)
            value = kwire.decode(cls, example.input, example.version, compat=compat)
            return kwire.to_json(value, example.version)
        batches = list(kwire.records.decode_batches(example.input))
        for batch in batches:
            batch.control_records  # noqa: B018  decoding can raise DecodeError
        first = {name: getattr(batches[0], name) for name in example.kafka}
        return _fields(example, first, sum(len(batch.records) for batch in batches))
    except kwire.DecodeError as error:
        return f"{type(error).__name__}, byte {error.offset}"
    except kwire.UnsupportedVersion:
        return "UnsupportedVersion"


def done_by_kafka(example: Example, answer: dict[str, Any]) -> Any:
    """Convert Kafka's answer for an example to the format of the page."""
    if not example.message:
        if "error" in answer:
            return f"refuses it: {answer['error']}"
        batches = answer["batches"]
        return _fields(example, batches[0], sum(len(b["records"]) for b in batches))
    if answer["ok"]:
        return answer["json"]
    if answer["step"] == "read":
        return f"refuses it: {answer['error']}"
    return CANNOT_WRITE


def _fields(example: Example, batch: Mapping[str, Any], records: int) -> dict[str, Any]:
    """Return the batch fields that the example specifies, and the number of records."""
    return {
        name: records if name == "records" else batch[name] for name in example.kafka
    }


def faults(example: Example, kafka: Any, strict: Any, java: Any) -> Iterator[str]:
    """Yield a description for each decoder whose result differs from the page.

    A result of None means that the decoder was not run.
    """
    listed = {"Kafka": example.kafka, "kwire": example.kwire, "compat": example.java}
    for (who, wanted), found in zip(listed.items(), (kafka, strict, java), strict=True):
        if found is not None and found != wanted:
            yield f"{example.title()}: {who}: {found}; the page says {wanted}"
    if example.kwire == example.kafka:
        yield f"{example.title()}: the page says that both do the same"
