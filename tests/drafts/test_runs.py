# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the design documents: their observations, output and results.

All requirements in a document are met on loopback sockets. If a behavior is broken, it
is reported, and all requirements have an existing function and an existing test.
"""

import importlib
import json
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from kwire.drafts.runs import DOCUMENTS
from tools.generate import draft_requirements

NUMBERS = [document.number for document in DOCUMENTS]
MAX_LINES = 42
WIDTH = 80


def part_of(kwire, name):
    return importlib.import_module(f"{kwire.__name__}.drafts.{name}")


def run(kwire, number):
    """Run a document on one engine, and return the document and its results."""
    document = part_of(kwire, "runs").find_document(number)
    return document, part_of(kwire, "runs.requirement").run_document(document)


def list_contradictions(kwire, number):
    """Run a document, and return the requirement texts that are not met."""
    _, results = run(kwire, number)
    return [result.requirement.text for result in results if not result.is_met]


@pytest.mark.parametrize("number", NUMBERS)
def test_each_requirement_is_met(kwire, number):
    document, results = run(kwire, number)
    assert [result.requirement for result in results] == list(document.requirements)
    assert [str(result.observation) for result in results if not result.is_met] == []


@pytest.mark.parametrize("number", NUMBERS)
def test_report_fits_one_screen(kwire, number):
    document, results = run(kwire, number)
    lines = list(part_of(kwire, "runs.report").format_report(document, results))
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= MAX_LINES


def test_closed_connection_contradicts_documents_000_and_001(kwire, monkeypatch):
    """The documents propose an empty response instead of a closed connection.

    If connections are closed, four requirements of each document are not met.
    """
    answerer = part_of(kwire, "exchange").Answerer
    answer = answerer.answer

    def close(self, frame):
        self._on_unsupported = "close"
        return answer(self, frame)

    monkeypatch.setattr(answerer, "answer", close)
    for number, count in (("000", 4), ("001", 4)):
        broken = list_contradictions(kwire, number)
        assert len(broken) == count
        assert any("empty response" in text for text in broken)


def test_wrong_documentation_contradicts_document_000(kwire, monkeypatch):
    draft = part_of(kwire, "kip35_api_version")
    table_of = draft.documented_table

    def ignore_the_number(protocol_version, *options):
        return table_of(5 if protocol_version == 4 else protocol_version, *options)

    monkeypatch.setattr(draft, "documented_table", ignore_the_number)
    assert len(list_contradictions(kwire, "000")) >= 2


def test_reversed_preference_contradicts_document_001(kwire, monkeypatch):
    draft = part_of(kwire, "kip35_protocol_version_request")
    monkeypatch.setattr(draft, "by_preference", lambda versions, order: versions)
    (broken,) = list_contradictions(kwire, "001")
    assert "preferred" in broken


def test_leader_without_an_address_contradicts_document_002(kwire, monkeypatch):
    runs = part_of(kwire, "runs.kip951_leader_endpoints")
    changes_of = runs.leader_changes

    def without_address(response):
        return tuple(
            change._replace(host=None, port=None) for change in changes_of(response)
        )

    monkeypatch.setattr(runs, "leader_changes", without_address)
    broken = list_contradictions(kwire, "002")
    assert len(broken) == 5
    assert "without requesting metadata" in broken[3]


def test_time_without_service_is_measured(kwire, monkeypatch):
    """A client that needs 50 ms to decode a leader is without service for this time."""
    runs = part_of(kwire, "runs.kip951_leader_endpoints")
    changes_of = runs.leader_changes

    def read_slowly(response):
        changes = changes_of(response)
        if changes:
            time.sleep(0.05)
        return changes

    monkeypatch.setattr(runs, "leader_changes", read_slowly)
    _, results = run(kwire, "002")
    assert float(results[-1].observation.detail.split(" ms")[0]) >= 50


def test_longer_time_without_service_contradicts_document_002(kwire, monkeypatch):
    runs = part_of(kwire, "runs.kip951_leader_endpoints")
    monkeypatch.setattr(
        runs,
        "_measure",
        lambda cluster, *, uses_endpoints: (30, 0) if uses_endpoints else (10, 5),
    )
    (broken,) = list_contradictions(kwire, "002")
    assert broken.startswith("The time without service is shorter")


def test_stored_null_contradicts_document_003(kwire, monkeypatch):
    stages = part_of(kwire, "kip87_tombstone_flag").STAGES
    changed = stages["magic 2"]._replace(produce_null="store")
    monkeypatch.setitem(stages, "magic 2", changed)
    (broken,) = list_contradictions(kwire, "003")
    assert broken.startswith("Note: Produce 3 rejects a null value")


def test_filter_that_is_ignored_contradicts_document_004(kwire, monkeypatch):
    draft = part_of(kwire, "kip35_api_versions_query")
    rows_of = draft.Server._answer_body

    def all_rows(self, frame, start, client_id):
        body = kwire.encode(draft.ApiVersionRequest(api_keys=None), 0)
        return rows_of(self, frame[:start] + body, start, client_id)

    monkeypatch.setattr(draft.Server, "_answer_body", all_rows)
    (broken,) = list_contradictions(kwire, "004")
    assert broken.startswith("An array of keys requests those APIs only")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("0", "000"),
        ("002", "002"),
        ("kip951_leader_endpoints", "002"),
        ("002-kip-951-leader-endpoints", "002"),
        ("KIP-951", "002"),
        ("kip87", "003"),
        ("87", "003"),
        ("951", "002"),
        ("3", "003"),
        ("KIP-35 protocol", "001"),
    ],
)
def test_documents_have_the_names_of_their_texts(kwire, name, number):
    assert part_of(kwire, "runs").find_document(name).number == number


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kip35", "several documents have .*000 .*001 .*004"),
        ("5", "no document has .*000 .*004"),
        ("", "no document has"),
        ("\x1b[31m", r"no document has the name '\\x1b"),
    ],
)
def test_other_names_are_errors_with_the_choices(kwire, name, words):
    with pytest.raises(LookupError, match=words):
        part_of(kwire, "runs").find_document(name)


def test_failure_of_a_loopback_broker_is_raised(kwire):
    """The client sees a closed connection. The ``with`` block raises the error."""
    loopback = part_of(kwire, "runs.loopback")

    def fail(frame):
        raise AssertionError("the broker is wrong")

    with (
        pytest.raises(AssertionError, match="the broker is wrong"),
        loopback.LoopbackBroker(fail) as broker,
        broker.connect() as connection,
    ):
        assert connection.exchange(bytes.fromhex("00000001 00")) is None


def test_each_requirement_has_a_function_and_a_test():
    assert list(draft_requirements.find_problems()) == []
    assert draft_requirements.PAGE.read_text("utf-8") == draft_requirements.make_page()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"function": "kip35_api_version.decodes"}, "no function is named"),
        ({"function": "kip35_b.decode"}, "no function is named"),
        ({"function": "kip35_api_version"}, "no function is named"),
        ({"test": ""}, "no test is named ''"),
        ({"test": "test_runs.py"}, "no test is named"),
        ({"test": "test_runs.py::test_that_is_gone"}, "no test is named"),
        ({"test": "test_none.py::test_stages"}, "no test is named"),
    ],
)
def test_row_without_a_function_or_a_test_is_found(monkeypatch, change, words):
    document = DOCUMENTS[0]
    rows = document.requirements
    changed = document._replace(requirements=(rows[0]._replace(**change), *rows[1:]))
    monkeypatch.setattr(draft_requirements, "DOCUMENTS", (changed,))
    (problem,) = draft_requirements.find_problems()
    assert words in problem


def test_index_of_the_docs_has_the_measured_time_without_service():
    """``make bench-leaders`` writes the page, and the index repeats two medians."""
    docs = draft_requirements.PAGE.parents[1]
    page = (docs / "drafts" / "002-kip-951-measured.md").read_text("utf-8")
    with_hints, ignored = (
        next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
        for name in ("with hints", "hints ignored")
    )
    medians = [line.split("|")[3].strip() for line in (with_hints, ignored)]
    words = "{} ms without service, instead of {} ms".format(*medians)
    assert words in (docs / "index.md").read_text("utf-8")


def command(*arguments):
    """Run ``kwire drafts`` in this process. Return its exit code and its output."""
    from kwire.cli.main import program

    result = CliRunner().invoke(program, ["drafts", *arguments])
    return result.exit_code, result.output


def module(*arguments):
    """Run ``python -m kwire.drafts``. Return its exit code and its output."""
    done = subprocess.run(
        [sys.executable, "-m", "kwire.drafts", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout or done.stderr


@pytest.mark.parametrize("program", [command, module])
def test_without_a_document_the_documents_are_listed(program):
    code, output = program()
    lines = output.splitlines()
    assert code == 0
    assert [line[:3] for line in lines] == NUMBERS
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize("program", [command, module])
def test_document_is_printed(program):
    code, output = program("KIP-951")
    assert code == 0
    assert "requirements met" in output
    assert "002-kip-951-measured.md" in output


@pytest.mark.parametrize("program", [command, module])
def test_json_lines_have_each_requirement(program):
    code, output = program("004", "--format", "jsonl")
    rows = [json.loads(line) for line in output.splitlines()]
    assert code == 0
    assert [row["requirement"] for row in rows] == [
        requirement.text for requirement in DOCUMENTS[4].requirements
    ]
    assert all(row["is_met"] and row["observed"] == row["required"] for row in rows)


@pytest.mark.parametrize("program", [command, module])
def test_unknown_document_is_wrong_usage(program):
    code, output = program("kip-36")
    assert code == 2
    assert "no document has the name 'kip-36'; use one of 000" in output


def test_contradiction_is_exit_code_1(monkeypatch, capsys):
    from kwire.drafts import __main__, kip87_tombstone_flag

    stages = kip87_tombstone_flag.STAGES
    changed = stages["magic 2"]._replace(produce_null="store")
    monkeypatch.setitem(stages, "magic 2", changed)
    code, output = command("003")
    assert code == 1
    assert "NO Note: Produce 3" in output
    assert "required: INVALID_RECORD" in output
    assert "14 of 15 requirements met" in output
    assert __main__.main(["003"]) == 1
    assert capsys.readouterr().out == output
