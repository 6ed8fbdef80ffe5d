# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""All SASL mechanism settings are defined in one registry."""

import importlib
import inspect

import pytest
from click.testing import CliRunner

from kwire.client import property_names
from kwire.client.sasl_mechanisms import (
    MECHANISMS,
    PASSWORD_MECHANISMS,
    SETTING_PROPERTIES,
)

ROWS = list(MECHANISMS.values())
WITH_REQUIRED = [row for row in ROWS if row.required]


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_factory_accepts_the_settings_of_its_row(row):
    parameters = inspect.signature(row.make).parameters
    assert list(parameters) == [parameter.name for parameter in row.parameters]
    required = [
        parameter.name
        for parameter in parameters.values()
        if parameter.default is parameter.empty
    ]
    assert required == [parameter.name for parameter in row.required]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_clients_and_spark_follow_the_properties_of_each_row(row):
    from kwire.spark.topics.option_names import OF_CLIENTS

    for setting in row.settings:
        assert set(setting.properties) <= set(property_names.OF_CONNECTIONS)
        assert {f"kafka.{name}" for name in setting.properties} <= set(OF_CLIENTS)


def test_password_mechanisms_are_those_with_a_user_name():
    assert PASSWORD_MECHANISMS == ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
    assert SETTING_PROPERTIES[:2] == ("sasl.username", "sasl.password")


@pytest.mark.parametrize("row", WITH_REQUIRED, ids=lambda row: row.name)
def test_missing_required_settings_are_named(client, row):
    config = {"security.protocol": "SASL_SSL", "sasl.mechanism": row.name}
    with pytest.raises(ValueError, match=f"config: {row.name} requires") as caught:
        client.connect("b:1", config=config)
    for setting in row.required:
        assert setting.label in str(caught.value)
        assert setting.properties[0] in str(caught.value)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_setting_of_another_mechanism_is_an_error_without_its_value(client, row):
    property_names = {name for setting in row.settings for name in setting.properties}
    for name in set(SETTING_PROPERTIES) - property_names:
        config = {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": row.name,
            name: "wonderland",
        }
        with pytest.raises(ValueError, match=f"{name} has no effect with") as caught:
            client.connect("b:1", config=config)
        assert "wonderland" not in str(caught.value)


@pytest.mark.parametrize("row", WITH_REQUIRED, ids=lambda row: row.name)
def test_command_line_requires_the_options_of_the_row(kwire, row, monkeypatch):
    monkeypatch.delenv("KWIRE_SASL_PASSWORD", raising=False)
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    required = [parameter.option for parameter in row.required if parameter.option]
    args = ["topics", "b:1", "--sasl-mechanism", row.name]
    done = CliRunner().invoke(program, args, prog_name="kwire")
    assert done.exit_code == 2
    assert any(f"{row.name} requires {option}" in done.output for option in required)


def test_option_without_a_mechanism_is_an_error(kwire):
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    args = ["topics", "b:1", "--username", "alice"]
    done = CliRunner().invoke(program, args, prog_name="kwire")
    assert done.exit_code == 2
    assert "--username requires --sasl-mechanism" in done.output
