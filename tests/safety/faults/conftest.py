# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of faults: commands, their input, and checks of output."""

import pytest

from tools.prove.fault_runs import Runner, content, make_inputs, works


@pytest.fixture(scope="session")
def runner():
    """Run commands, and the stream, in processes that may be killed."""
    with Runner("kwire.spark.log.stream", "kwire.spark.topics.layout") as runner:
        yield runner


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """Write logs and captures; whatever befalls a run, no byte of them changes."""
    folder = tmp_path_factory.mktemp("inputs")
    make_inputs(folder)
    before = content(folder)
    yield folder
    assert content(folder) == before


@pytest.fixture(scope="session")
def normal_run(runner, inputs, tmp_path_factory):
    """Run each command as it should be: the run, and what it has written."""
    found = {}
    for work in works(inputs):
        folder = tmp_path_factory.mktemp("whole")
        run = runner.run(work.arguments, folder=folder)
        assert run.code == work.code, run.err
        found[work.name] = run, content(folder / work.output)
    return found


@pytest.fixture(
    params=("repair", "dump to Parquet", "dump to lines", "export", "audit", "offsets")
)
def work(request, inputs):
    """Each command that writes files."""
    return _named(request.param, inputs)


@pytest.fixture(params=("repair", "dump to Parquet", "export"))
def kind_of_work(request, inputs):
    """One command for each way to write: bytes, a table, a folder of tables."""
    return _named(request.param, inputs)


def _named(name, inputs):
    (found,) = (each for each in works(inputs) if each.name == name)
    return found
