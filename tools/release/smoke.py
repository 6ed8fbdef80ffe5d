# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test an installed kwire using only the standard library.

Run it with the interpreter that contains the wheel, outside of the project directory:
``python smoke.py fast`` or ``python smoke.py pure``.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

import kwire
from kwire import records
from kwire.connection import ClientConnection
from kwire.messages import (
    ApiVersionsRequest,
    MetadataRequest,
    MetadataResponse,
    framing,
    message_class,
    wire,
)


def check(kept: bool, what: str) -> None:
    """Exit with the message ``what`` if the condition ``kept`` is False."""
    if not kept:
        sys.exit(f"kwire, as it was installed: {what}")


def where_it_is(engine: str) -> None:
    """Check that kwire is imported from the environment and uses the wheel's engine."""
    homes = [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
    check(Path(kwire.__file__).parent.parent in homes, f"{kwire.__file__} runs")
    check(kwire.backend == engine, f"its engine is {kwire.backend}, not {engine}")


def messages() -> None:
    """Check the encoding of messages and frames, JSON, and the offsets in errors."""
    request = MetadataRequest(topics=None)
    data = kwire.encode(request, version=12)
    check(kwire.decode(MetadataRequest, data, version=12) == request, "no round trip")
    form = kwire.to_json(request, version=12)
    check(kwire.from_json(MetadataRequest, form, version=12) == request, "no JSON")
    for end in range(len(data)):
        try:
            kwire.decode(MetadataRequest, data[:end], version=12)
        except kwire.DecodeError as error:
            check(
                0 <= error.offset <= end,
                f"cut at {end}, reported at {error.offset}",
            )
        else:
            check(False, f"a message cut at {end} is taken")
    frame = framing.encode_request(
        request, version=12, correlation_id=7, client_id="me"
    )
    (whole,) = framing.FrameSplitter().feed(frame)
    header, back = framing.decode_request(whole)
    check((header.correlation_id, back) == (7, request), "frames do not come back")
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="a", port=9092)
    reply = kwire.encode(MetadataResponse(brokers=[broker]), version=12)
    check(
        kwire.decode(MetadataResponse, reply, version=12).brokers[0] == broker, "reply"
    )


def modules() -> None:
    """Check records, schemas, primitives and connections, which require no extras."""
    batch = records.encode_batch([(b"k", b"v", 1, [("h", b"1")])], compression="gzip")
    ((record,),) = (list(one.records) for one in records.decode_batches(batch))
    check((record.key, record.value, record.timestamp) == (b"k", b"v", 1), "records")
    check(wire.encode_unsigned_varint(300) == b"\xac\x02", "varints")
    text = (
        '{"type": "data", "name": "N", "validVersions": "0", "flexibleVersions": "0+",'
        ' "fields": []}'
    )
    check(kwire.encode(message_class(text)(), version=0) == b"\0", "schemas")
    connection = ClientConnection(client_id="me")
    asked = framing.FrameSplitter().feed(connection.data_to_send())
    _, hello = framing.decode_request(next(iter(asked)))
    check(isinstance(hello, ApiVersionsRequest), "a connection does not ask first")


def what_is_missing() -> None:
    """Check that features whose extra is not installed report its name."""
    if importlib.util.find_spec("numpy") is None:
        try:
            wire.decode_varints(b"\x02", 1)
        except ImportError as error:
            check(
                "pip install kwire[numpy]" in str(error), f"numpy is missing: {error}"
            )
    if importlib.util.find_spec("click") is None:
        command = [sys.executable, "-c", "from kwire.cli import main; main()"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        check("pip install kwire[cli]" in done.stderr, f"no click: {done.stderr}")


def other_pieces() -> None:
    """Check that the type stubs and all packages are installed, and that ``python -m
    kwire`` works.
    """
    home = Path(kwire.__file__).parent
    for name in ("py.typed", "messages/__init__.pyi", "schema/definitions/index.txt"):
        check((home / name).is_file(), f"{name} is missing")
    for name in (
        "pyspark_kwire",
        "pyspark_kwire_capture",
        "pyspark_kwire_live",
        "pyspark_kwire_request_log",
    ):
        check(importlib.util.find_spec(name) is not None, f"{name} is missing")
    command = [sys.executable, "-m", "kwire"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    check(done.stdout.startswith(f"kwire {kwire.__version__}, "), done.stdout)


def free_threads() -> None:
    """On free-threaded CPython, check that importing kwire does not enable the GIL."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        from sys import _is_gil_enabled  # type: ignore[attr-defined]

        check(not _is_gil_enabled(), "it switched the GIL on")


def main() -> None:
    """Run all checks. Exits with a message at the first failure."""
    engine = sys.argv[1]
    where_it_is(engine)
    messages()
    modules()
    what_is_missing()
    other_pieces()
    free_threads()
    print(
        f"kwire {kwire.__version__}, {engine}, CPython {sys.version.split()[0]}: works"
    )


if __name__ == "__main__":
    main()
