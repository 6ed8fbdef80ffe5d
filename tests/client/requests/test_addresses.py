# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Broker addresses: parsing, formatting, and invalid addresses."""

import importlib

import pytest

from tests.client.requests.request_calls import use_client


@pytest.fixture(scope="module")
def addresses(kwire):
    return importlib.import_module(f"{kwire.__name__}.client.runners.addresses")


@pytest.fixture(scope="module")
def text_module(kwire):
    return importlib.import_module(f"{kwire.__name__}._text")


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("kafka:9092", "kafka", 9092),
        ("127.0.0.1:1", "127.0.0.1", 1),
        ("[::1]:9092", "::1", 9092),
        ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535),
    ],
)
def test_addresses_are_read_and_shown(addresses, text_module, text, host, port):
    assert addresses.split_address(text) == (host, port)
    assert text_module.format_address(host, port) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kafka",
        ":9092",
        "kafka:",
        "kafka:0",
        "kafka:65536",
        "kafka:x",
        "::1:9092",
        "[]:9092",
        "[::1]",
        "[kafka]:9092",
        "kafka:-1",
        "kafka:٣",
    ],
)
def test_other_text_is_not_an_address(addresses, text):
    with pytest.raises(ValueError, match="an address must be") as caught:
        addresses.split_address(text)
    assert not text or text == ":9092" or text not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "alice:wonderland@kafka:9092",
        "wonderland@kafka:9092",
        "alice:wonderland",
        "SASL_SSL://wonderland:9092",
        "wonderland land:9092",
        "wonderland\0:9092",
    ],
)
def test_an_address_with_a_password_is_rejected_without_it(
    client, messages, runner, addresses, text
):
    """The error does not contain the password.

    If the address were accepted, all errors about the connection would show it.
    """
    with pytest.raises(ValueError, match="an address") as caught:
        addresses.split_address(text)
    assert "land" not in str(caught.value)
    with pytest.raises(ValueError, match="to: an address") as caught:
        use_client(
            client,
            runner,
            "127.0.0.1:1",
            lambda call: call("request", messages.MetadataRequest(), to=text),
        )
    assert "land" not in str(caught.value)


@pytest.mark.parametrize("to", [True, 1.5, b"kafka:9092", ("kafka", 9092)])
def test_a_destination_of_another_type_is_rejected(client, messages, runner, to):
    with pytest.raises(TypeError, match="to must be a node id, HOST:PORT or None"):
        use_client(
            client,
            runner,
            "127.0.0.1:1",
            lambda call: call("request", messages.MetadataRequest(), to=to),
        )


HOSTILE = "\x1b[2J\x00\r\n\u202e\x9b"


def test_a_host_is_shown_escaped_and_without_its_password(text_module):
    """Metadata may contain any host name."""
    text = text_module.format_address(f"user:wonderland@kafka{HOSTILE}", 9092)
    assert text.isprintable() and "wonderland" not in text
    assert text.startswith(r"kafka\x1b[2J\x00")
