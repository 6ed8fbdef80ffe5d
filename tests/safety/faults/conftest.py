# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the fault tests: commands, their inputs, and checks of their output."""

import pytest

from tools.prove.fault_runs import Runner, content, make_inputs, works


@pytest.fixture(scope="session")
def runner():
    """Return a runner for commands and for the stream driver.

    It runs them in processes that a test can kill.
    """
    with Runner("kwire.spark.log.stream", "kwire.spark.topics.layout") as runner:
        yield runner


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """Create logs and captures as inputs.

    After the tests, verify that they are unchanged.
    """
    folder = tmp_path_factory.mktemp("inputs")
    make_inputs(folder)
    before = content(folder)
    yield folder
    assert content(folder) == before


@pytest.fixture(scope="session")
def normal_run(runner, inputs, tmp_path_factory):
    """Run all commands without faults.

    Return the runs with their output by name, for comparison.
    """
    results = {}
    for work in works(inputs):
        folder = tmp_path_factory.mktemp("whole")
        run = runner.run(work.arguments, folder=folder)
        assert run.code == work.code, run.err
        results[work.name] = run, content(folder / work.output)
    return results


@pytest.fixture(
    params=("repair", "dump to Parquet", "dump to lines", "export", "audit", "offsets")
)
def work(request, inputs):
    """Return a command that writes files. The test runs once per command."""
    return _named(request.param, inputs)


@pytest.fixture(params=("repair", "dump to Parquet", "export"))
def kind_of_work(request, inputs):
    """Return a command for one kind of output: bytes, a table, or several tables."""
    return _named(request.param, inputs)


def _named(name, inputs):
    (command,) = (work for work in works(inputs) if work.name == name)
    return command
