# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options of all commands: a name has the same meaning and default everywhere."""

import importlib
from collections import defaultdict

import click
import pytest

SHARED = {
    "--from": {"dump", "read"},
    "--to": {"dump", "read"},
    "--limit": {"dump", "read"},
    "--key": {"dump", "read"},
    "--isolation-level": {"dump", "read"},
    "--tls-key": {
        "configs",
        "groups",
        "read",
        "restore",
        "topics",
        "versions",
        "write",
    },
    "--output": {
        "audit",
        "dump",
        "export",
        "offsets",
        "read",
        "record",
        "repair",
        "spark-bundle",
    },
}
"""Options for records and connections, with the commands that have them."""

OTHER_SPELLINGS = {
    "--from-offset",
    "--from-time",
    "--isolation",
    "--max",
    "--max-records",
    "--out",
    "--output-file",
    "--record-key",
    "--start",
    "--end",
    "--to-offset",
    "--to-time",
}
"""Alternative spellings of shared options, which are not allowed."""

OWN_CHOICES = {"--format", "-o"}
"""Commands have different output formats, so that choices and help differ."""

OWN_DEFAULTS = {"--compression", "-z"}
"""A restore writes complete logs and compresses them, unlike single records."""

OWN_MEANINGS = {("serve", "--topic")}
"""``kwire serve`` creates the topics that other commands select."""

OWN_TYPES = {"--version", "-v"}
"""``kwire schema`` also accepts a range of versions."""


@pytest.fixture
def options(kwire):
    """Options of all commands as {spelling: [(command, option), ...]}."""
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    context = click.Context(program)
    uses_by_option = defaultdict(list)
    for name in program.list_commands(context):
        for parameter in program.get_command(context, name).params:
            if isinstance(parameter, click.Option):
                for spelling in (*parameter.opts, *parameter.secondary_opts):
                    uses_by_option[spelling].append((name, parameter))
    return uses_by_option


def describe(name, option):
    """Return the properties of an option that must be equal in all commands."""
    facts = {
        "names": (sorted(option.opts), sorted(option.secondary_opts)),
        "is repeatable": option.multiple,
        "is a flag": option.is_flag,
        "variable": option.envvar,
    }
    if name not in OWN_CHOICES:
        facts["help"] = option.help
        facts["metavar"] = option.metavar
        if name not in OWN_TYPES:
            facts["type"] = option.type.to_info_dict()
        if name not in OWN_DEFAULTS:
            facts["default"] = option.default
    return facts


def test_options_with_one_name_are_equal_in_all_commands(options):
    for name, uses in options.items():
        first, expected = uses[0]
        for command, option in uses[1:]:
            if (command, name) in OWN_MEANINGS:
                continue
            assert describe(name, option) == describe(name, expected), (
                f"{name} of {command} differs from that of {first}"
            )


def test_shared_options_have_one_spelling(options):
    assert not OTHER_SPELLINGS & set(options)
    for name, commands in SHARED.items():
        assert {command for command, _ in options[name]} == commands, name


def test_each_option_has_a_help_text(options):
    for name, uses in options.items():
        for command, option in uses:
            assert option.help, f"{name} of {command}"
            assert option.help.rstrip(")")[-1] == ".", f"{name} of {command}"
