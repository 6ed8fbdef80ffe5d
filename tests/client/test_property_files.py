# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Property files have the ``java.util.Properties`` syntax. Errors hide secrets."""

import importlib
import os
import threading

import pytest

JAVA = r"""
# A comment, which does not go on in the next line \
! another
a=1
  b : two words SPACES
c   3
d
e\ f\=\:g = h=i:j
long = first, \
       second\
   , third
path = C:\\new
unicode = \u00e9\ud83d\ude00
controls = a\tb\nc
sasl.jaas.config=org.x.PlainLoginModule required \
  username="alice" password="p\\"q";
empty =
a = 2
last = end"""


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_files_are_read_as_java_reads_them(client, tmp_path, end):
    """The result equals java.util.Properties, but with trimmed values."""
    path = tmp_path / "client.properties"
    text = JAVA.replace(" SPACES", "   ") + "\\"
    path.write_bytes(text.replace("\n", end).encode("latin-1"))
    assert client.read_properties(path) == {
        "a": "2",
        "b": "two words",
        "c": "3",
        "d": "",
        "e f=:g": "h=i:j",
        "long": "first, second, third",
        "path": "C:\\new",
        "unicode": "\u00e9\U0001f600",
        "controls": "a\tb\nc",
        "sasl.jaas.config": 'org.x.PlainLoginModule required username="alice"'
        ' password="p\\"q";',
        "empty": "",
        "last": "end",
    }


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a=1\nsecret=\\u12", "line 2: .u must be followed by the 4 hexadecimal"),
        (b"\nsecret=\\ud83d", "line 2: .u must be followed by the 4 hexadecimal"),
        (b"secret" * 200_000, "is not a property file"),
        (b"secret\0=1", "is not a property file"),
    ],
    ids=["digits", "surrogate", "size", "binary"],
)
def test_invalid_property_file_is_an_error_without_its_values(
    client, tmp_path, data, text
):
    """The error contains name and line, but nothing that may be a password."""
    path = tmp_path / "client.properties"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=text) as caught:
        client.read_properties(path)
    assert "secret" not in str(caught.value)
    with pytest.raises(OSError, match="client"):
        client.read_properties(tmp_path / "none" / "client.properties")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no FIFOs")
def test_secrets_may_come_through_a_pipe(client, tmp_path):
    """The shell's <(command) passes the file as a pipe."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"a=1\n",))
    writer.start()
    assert client.read_properties(path) == {"a": "1"}
    writer.join()
