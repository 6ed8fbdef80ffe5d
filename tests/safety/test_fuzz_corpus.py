# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Replays inputs from fuzzing on both engines.

The inputs are: inputs that reach more code than the seeds, all inputs that ever failed,
and a part of the seeds. ``fuzz/README.md`` lists what the targets check.
"""

import itertools
import os

import pytest

from fuzz import corpus, engines, ledger, process, seeds
from fuzz.process import TARGETS
from tests.harness.guard_pages import check, in_child
from tests.safety.entries import ENTRIES
from tests.safety.entries import outcome as entry_outcome

SEEDS = 120
"""Number of seeds that are replayed for each target.

All other seeds are golden vectors, which the vector tests read.
"""


def test_every_kind_of_bytes_has_its_target():
    """Every expected fuzz target exists.

    A missing target would detect no errors.
    """
    for name in (
        "message",
        "header",
        "frames",
        "batch",
        "log",
        "schema",
        "negotiation",
        "gzip",
        "snappy",
        "lz4",
        "zstd",
        "connection",
        "wire",
        "arrow",
        "twins",
        "tables",
    ):
        assert f"fuzz_{name}" in TARGETS


def test_the_corpus_passes(figure):
    """All inputs of the corpus pass.

    They cause no failure, no crash, and no difference between the engines.
    """
    inputs = []
    for target in TARGETS:
        samples = [data for _, data in corpus.packed(target)]
        samples += spread(list(getattr(seeds, target)()), SEEDS)
        inputs += ((target, data) for data in samples)

    def work(note):
        for target, data in inputs:
            note((target, data[:200]))
            corpus.judge(target)(data)

    before = seconds_of_children()
    check(work, longest_s=600)
    spent = seconds_of_children() - before
    figure("P17", "inputs replayed in the tests", len(inputs), least=1000)
    figure("P17", "processor time of the replay", spent, most=60, unit=" s")


def seconds_of_children():
    """Return the processor time of all finished child processes, in seconds."""
    times = os.times()
    return times.children_user + times.children_system


def spread(inputs, count):
    """Return about ``count`` elements that are evenly distributed."""
    return inputs[:: max(1, len(inputs) // count)]


def still_open():
    """Replay all inputs that failed in the past.

    Return (name, status, failure) for the inputs that still fail.
    """
    still = []
    for target in TARGETS:
        for path in corpus.findings(target):
            judge, data = corpus.judge(target), path.read_bytes()
            status, failure = in_child(lambda note, judge=judge, data=data: judge(data))
            if status:
                still.append((path.name, status, failure[:300]))
    for name, data in corpus.entry_findings():
        status, failure = in_child(lambda note, n=name, d=data: agree(n, d))
        if status:
            still.append((name, status, failure[:300]))
    return still


def test_no_finding_is_open(figure):
    """All inputs that failed in the past pass."""
    still = still_open()
    print(*still, sep="\n")
    figure("P17", "open findings", len(still), most=0)


def agree(name, data):
    """Assert that both engines have the same outcome for an input of an entry."""
    first, *other_outcomes = (
        entry_outcome(ENTRIES[name], package, data) for package in engines.packages()
    )
    assert all(outcome == first for outcome in other_outcomes), (first, *other_outcomes)


def test_a_finding_of_a_deep_run_is_open(tmp_path, monkeypatch, twins):
    """An input that failed in a deep run is saved with the name of its entry.

    It counts as open as long as the engines disagree.
    """
    monkeypatch.setattr(process, "FINDINGS", tmp_path)
    corpus.keep_entry("wire varint", b"\1")
    assert list(corpus.entry_findings()) == [("wire varint", b"\1")]
    assert not still_open()
    error = twins.pure.Truncated("planted", 0)
    plant(monkeypatch, engines.pure(), "messages.wire", "decode_varint", raising(error))
    ((name, *_),) = still_open()
    assert name == "wire varint"


CODECS = ("fuzz_gzip", "fuzz_snappy", "fuzz_lz4", "fuzz_zstd")
PLANTED = [
    ("fuzz_message", "", "decode"),
    ("fuzz_twins", "", "encode"),
    ("fuzz_header", "messages.framing", "decode_response"),
    ("fuzz_frames", "messages.framing", "FrameSplitter.feed"),
    ("fuzz_batch", "records", "decode_batches"),
    ("fuzz_wire", "messages.wire", "decode_string"),
    *((target, "records.compression", "decompress") for target in CODECS),
    ("fuzz_log", "log", "Segment.headers"),
    ("fuzz_schema", "messages", "message_class"),
    (
        "fuzz_negotiation",
        "connection.negotiation",
        "ApiVersionsHandshake.receive_frame",
    ),
    ("fuzz_connection", "connection", "ClientConnection.receive_data"),
    ("fuzz_arrow", "messages.arrow", "messages_to_arrow"),
    ("fuzz_tables", "client.table_batches", "TableColumns"),
]
"""(target, module, function) for every function that a test breaks."""


def plant(monkeypatch, package, module, name, wrong):
    """Replace a function in the package of one engine by ``wrong(function)``."""
    owner = engines.module(package, module) if module else package
    if "." in name:
        kind, name = name.split(".")
        # The attributes of a compiled class cannot be set, so break a subclass.
        broken = type(kind, (getattr(owner, kind),), {})
        monkeypatch.setattr(owner, kind, broken)
        owner = broken
    monkeypatch.setattr(owner, name, wrong(getattr(owner, name)))


def raising(error):
    """Return a function that replaces any function by one that raises ``error``."""

    def wrong(right):
        def broken(*arguments, **options):
            raise error

        return broken

    return wrong


def inputs_of(target):
    """Return the seeds and the corpus inputs of a target.

    Call it before a bug is planted.
    """
    return [*getattr(seeds, target)(), *(data for _, data in corpus.packed(target))]


def judge_all(target, inputs):
    """Run a target with all inputs. The first error is raised."""
    for data in inputs:
        corpus.judge(target)(data)


def test_every_target_has_its_planted_bugs():
    """Every target is tested with a planted bug, which it must detect."""
    assert {target for target, *_ in PLANTED} == set(TARGETS)


@pytest.mark.gate
@pytest.mark.parametrize(("target", "module", "name"), PLANTED)
def test_target_detects_engines_that_differ(target, module, name, monkeypatch, twins):
    """A target detects an engine that reports Truncated for all inputs."""
    inputs, error = inputs_of(target), twins.pure.Truncated("planted", 0)
    plant(monkeypatch, engines.pure(), module, name, raising(error))
    with pytest.raises(engines.Finding):
        judge_all(target, inputs)


@pytest.mark.gate
@pytest.mark.parametrize(("target", "module", "name"), PLANTED)
def test_target_detects_untyped_errors(target, module, name, monkeypatch):
    """A target does not catch errors other than ``KwireError`` on any engine."""
    inputs, error = inputs_of(target), ZeroDivisionError("planted")
    plant(monkeypatch, engines.pure(), module, name, raising(error))
    with pytest.raises(ZeroDivisionError):
        judge_all(target, inputs)


def one_byte_more(right):
    """Break an encoder: append a byte to its result."""
    return lambda *arguments, **options: right(*arguments, **options) + b"\0"


def only_the_first(right):
    """Break a splitter: return only the first frame of every piece."""
    return lambda *arguments: itertools.islice(right(*arguments), 1)


def no_ceiling(right):
    """Break a decompressor: ignore the passed limits, and use the default limits."""

    def broken(codec, data, magic, limits, *others, **options):
        return right(codec, data, magic, type(limits)(), *others, **options)

    return broken


def no_bytes(right):
    """Break a reader: pass empty bytes instead of the input."""
    return lambda data, **options: right(b"", **options)


def bad_rows_as_null(right):
    """Break a column reader: return null for invalid rows instead of an error."""
    return lambda *arguments, **options: right(
        *arguments, **(options | {"on_error": "null"})
    )


@pytest.mark.gate
@pytest.mark.parametrize(
    ("target", "module", "name", "wrong"),
    [
        ("fuzz_message", "", "encode", one_byte_more),
        ("fuzz_twins", "", "encode", one_byte_more),
        ("fuzz_schema", "", "encode", one_byte_more),
        ("fuzz_header", "messages.framing", "encode_request", one_byte_more),
        ("fuzz_header", "messages.framing", "encode_response", one_byte_more),
        ("fuzz_wire", "messages.wire", "encode_string", one_byte_more),
        ("fuzz_frames", "messages.framing", "FrameSplitter.feed", only_the_first),
        (
            "fuzz_connection",
            "connection",
            "ClientConnection.receive_data",
            only_the_first,
        ),
        ("fuzz_batch", "records.columns", "decode_records", no_bytes),
        *(
            (target, "records.compression", "decompress", no_ceiling)
            for target in CODECS
        ),
        ("fuzz_arrow", "messages.arrow", "messages_to_arrow", bad_rows_as_null),
    ],
)
def test_target_detects_errors_of_both_engines(
    target, module, name, wrong, monkeypatch
):
    """A target detects an error that both engines have."""
    inputs = inputs_of(target)
    for package in engines.packages():
        plant(monkeypatch, package, module, name, wrong)
    with pytest.raises(engines.Finding):
        judge_all(target, inputs)


def test_ledger_sums_all_runs(tmp_path, monkeypatch):
    """The ledger contains the hours and inputs of all runs, in one line per target."""
    monkeypatch.setattr(ledger, "LEDGER", tmp_path / "ledger.jsonl")
    line = {"target": "fuzz_wire", "cpu_seconds": 900.0, "inputs": 1000}
    line |= {"new_inputs": 3, "findings": 0}
    for _ in range(2):
        ledger.add(line)
    ledger.add(line | {"target": "fuzz_log", "findings": 1})
    assert ledger.totals() == (0.75, 3000)
    wire = "fuzz_wire              30.0 min        2,000 inputs      6 new   0 findings"
    assert wire in ledger.table().splitlines()
    assert ledger.table().endswith("0.75 of 8 hours before a release, 3,000 inputs")
