# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Both engines behave as ``docs/project/deviations.md`` documents, without Java.

``make interop`` verifies Kafka's side with the same functions. The tests decode every
input on the page, strictly and with ``compat="java"``, and detect errors in the page.
"""

import importlib

import pytest

from tests.harness.sweeps import sweep
from tools.interop.oracle import deviations

TEXT = deviations.PAGE.read_text(encoding="utf-8")
ENTRIES = deviations.read(TEXT)
EXAMPLES = [(entry, example) for entry in ENTRIES for example in entry.examples]


def title(value):
    """Return the test id of a deviation or of an input."""
    return value.name if hasattr(value, "name") else value.title()


def test_there_are_few_entries_and_each_is_complete():
    """Every deviation describes both behaviors and the reason.

    Names and inputs are unique.
    """
    assert 0 < len(ENTRIES) <= deviations.MOST
    for entry in ENTRIES:
        assert entry.kafka and entry.kwire and entry.why
        kinds = {
            "messages" if sample.message else "records" for sample in entry.examples
        }
        assert kinds == {
            kind for kind in ("messages", "records") if getattr(entry, kind)
        }
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
    assert len({example.input for _, example in EXAMPLES}) == len(EXAMPLES)


@sweep(("entry", "example"), EXAMPLES, ids=title)
def test_kwire_does_what_the_page_says(kwire, entry, example):
    """An input is decoded as its deviation states, strictly and with "java".

    The behavior of Kafka is not tested here.
    """
    strict = deviations.done_by_kwire(kwire, example, None)
    java = deviations.done_by_kwire(kwire, example, "java") if example.message else None
    assert list(deviations.faults(example, None, strict, java)) == []


@pytest.mark.parametrize(
    ("entry", "example"), [pair for pair in EXAMPLES if pair[1].message], ids=title
)
def test_a_pattern_of_the_entry_matches_the_error(kwire, entry, example):
    """A pattern of the deviation matches the error of kwire.

    ``make interop`` uses the pattern to assign a difference to a deviation.
    """
    cls = getattr(kwire.messages, example.message)
    try:
        kwire.decode(cls, example.input, example.version)
    except kwire.DecodeError as error:
        layout = (
            importlib.import_module(f"{kwire.__name__}._engine.active")
            .engine.binding_of(cls)
            .plan(example.version)
        )
        text = f"strict: {deviations.describe_error(error, layout)}"
        assert deviations.name_of(text, ENTRIES) == entry.name


MADE_UP = """# A page

## Nulls

* Kafka: reads them.
* kwire: refuses them, which
  it does not.
* Why: it is unknown.

```toml
messages = ["^strict: Nothing"]

[[example]]
message = "MetadataRequest"
version = 1
input = "ff ff ff ff"
strict = "InvalidLength, byte 0"
java = '{"topics": null}'
```
"""


def find_page_errors(kwire, page):
    """Return the errors in the first example of a page.

    The behavior of Kafka is not checked.
    """
    example = deviations.read(page)[0].examples[0]
    results = [
        deviations.done_by_kwire(kwire, example, mode) for mode in (None, "java")
    ]
    return list(deviations.faults(example, None, *results))


def test_outdated_entry_is_detected(kwire):
    """A deviation that no longer exists is reported.

    On this page, kwire accepts a null in the same way as Kafka.
    """
    (fault,) = find_page_errors(kwire, MADE_UP)
    assert fault == (
        "MetadataRequest v1 ffffffff: kwire: {'topics': None}; "
        "the page says InvalidLength, byte 0"
    )


def test_entry_without_a_difference_is_detected(kwire):
    """A deviation without a difference is reported, because it cannot be verified."""
    page = MADE_UP.replace('"InvalidLength, byte 0"', "'{\"topics\": null}'")
    (fault,) = find_page_errors(kwire, page)
    assert fault.endswith("the page says that both do the same")


def test_changed_result_of_kafka_is_detected():
    """If the error of Kafka changes, the deviation is reported."""
    example = deviations.read(MADE_UP)[0].examples[0]
    answer = {"ok": False, "step": "read", "error": "BufferUnderflowException"}
    kafka = deviations.done_by_kafka(example, answer)
    (fault,) = deviations.faults(example, kafka, None, None)
    assert "Kafka: refuses it: BufferUnderflowException" in fault


def test_unlisted_difference_has_no_name():
    """A difference that no pattern matches belongs to no deviation.

    If several patterns match, it belongs to the first one.
    """
    assert deviations.name_of(
        "strict: InvalidValue: not UTF-8, key byte 2", ENTRIES
    ) == ("Text that is not UTF-8")
    assert deviations.name_of("kwire reads what Kafka refuses", ENTRIES) is None
    assert deviations.name_of("strict: TrailingBytes: ", ENTRIES, "records") is None


@pytest.mark.parametrize(
    ("excerpt", "instead"),
    [
        ("* Why: it is unknown.\n", ""),
        ("```toml", "```"),
        ('messages = ["^strict: Nothing"]', ""),
        ("version = 1", "version = 1\ncolour = 2"),
        ("messages =", "patterns ="),
    ],
)
def test_incomplete_entry_is_rejected(excerpt, instead):
    """An incomplete deviation raises an error instead of being ignored."""
    with pytest.raises((ValueError, TypeError)):
        deviations.read(MADE_UP.replace(excerpt, instead))
