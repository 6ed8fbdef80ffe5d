# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What fuzzing has found is judged again, on both engines, and without a fuzzer.

Inputs that reach further than the seeds, every input that ever failed, and a part of
the seeds. ``fuzz/README.md`` tells what a target holds an input to.
"""

import os

import pytest
from entries import ENTRIES
from entries import outcome as entry_outcome
from guard_pages import check, in_child

from fuzz import corpus, engines, ledger, seeds
from fuzz.runner import TARGETS

SEEDS = 120
"""Seeds of each target; the tests of vectors see the rest."""


def test_every_kind_of_bytes_has_its_target():
    """None is lost: a target that is not there finds nothing."""
    for name in (
        *("message", "header", "frames", "batch", "log", "schema", "negotiation"),
        *("gzip", "snappy", "lz4", "zstd", "connection", "wire", "arrow", "twins"),
    ):
        assert f"fuzz_{name}" in TARGETS


def test_the_corpus_passes(figure):
    """No input of any corpus fails, ends the process, or makes the engines differ."""
    inputs = []
    for target in TARGETS:
        found = [data for _, data in corpus.packed(target)]
        found += spread(list(getattr(seeds, target)()), SEEDS)
        inputs += ((target, data) for data in found)

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
    """Tell the processor time of all children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def spread(found, count):
    """Take some, from the first to the last."""
    return found[:: max(1, len(found) // count)]


def still_open():
    """Try every input that ever failed; give those that still do."""
    still = []
    for target in TARGETS:
        for path in corpus.findings(target):
            judge, data = corpus.judge(target), path.read_bytes()
            status, said = in_child(lambda note, judge=judge, data=data: judge(data))
            if status:
                still.append((path.name, status, said[:300]))
    for name, data in corpus.entry_findings():
        status, said = in_child(lambda note, n=name, d=data: agree(n, d))
        if status:
            still.append((name, status, said[:300]))
    return still


def test_no_finding_is_open(figure):
    """Every input that ever failed passes now."""
    still = still_open()
    print(*still, sep="\n")
    figure("P17", "open findings", len(still), most=0)


def agree(name, data):
    """Try what a deep run has found at an entry, on both engines."""
    first, *others = (
        entry_outcome(ENTRIES[name], each, data) for each in engines.packages()
    )
    assert all(other == first for other in others), (first, *others)


def test_a_finding_of_a_deep_run_is_open(tmp_path, monkeypatch, twins):
    """It is kept with the name of its entry, and seen until the engines agree."""
    monkeypatch.setattr(corpus, "FINDINGS", tmp_path)
    corpus.keep_entry("wire varint", b"\1")
    assert list(corpus.entry_findings()) == [("wire varint", b"\1")]
    assert not still_open()
    plant(monkeypatch, "wire", "decode_varint", twins.pure.Truncated("planted", 0))
    ((name, *_),) = still_open()
    assert name == "wire varint"


PLANTED = [
    ("fuzz_message", "", "decode"),
    ("fuzz_twins", "", "encode"),
    ("fuzz_header", "framing", "decode_response"),
    ("fuzz_batch", "records", "decode_batches"),
    ("fuzz_wire", "wire", "decode_string"),
    ("fuzz_gzip", "compression", "decompress"),
]
"""Targets, and what is broken for each: a module and its function."""


def plant(monkeypatch, place, name, error):
    """Have a function of the engine in plain Python raise an error."""

    def wrong(*arguments, **options):
        raise error

    package = engines.pure()
    owner = engines.module(package, place) if place else package
    monkeypatch.setattr(owner, name, wrong)


@pytest.mark.parametrize(("target", "place", "name"), PLANTED)
def test_a_target_sees_engines_that_differ(target, place, name, monkeypatch, twins):
    """An engine that calls everything truncated does not get through the seeds."""
    plant(monkeypatch, place, name, twins.pure.Truncated("planted", 0))
    with pytest.raises(engines.Finding):
        for data in getattr(seeds, target)():
            corpus.judge(target)(data)


@pytest.mark.parametrize(("target", "place", "name"), PLANTED)
def test_a_target_sees_an_error_of_no_type(target, place, name, monkeypatch):
    """What is no ``KwireError`` leaves a target, whichever engine it is."""
    plant(monkeypatch, place, name, ZeroDivisionError("planted"))
    with pytest.raises(ZeroDivisionError):
        for data in getattr(seeds, target)():
            corpus.judge(target)(data)


def test_the_ledger_adds_up(tmp_path, monkeypatch):
    """Hours and inputs of all runs are summed, each target has its line."""
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
