# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run kwire's commands until they are killed or fail, and check the remaining files.

``Runner`` starts a process that imports kwire once and forks for every run, so that a
kill interrupts the actual work instead of the imports. A ``Fault`` specifies how a run
ends: by SIGKILL at a moment or at a system call that modifies a directory, or because
of a full disk. A ``Work`` is a command with its output. ``judge`` checks that the
output is either complete or missing. ``tests/safety/faults`` and ``faults.py`` select
the faults.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tools import ROOT

DATA = ROOT / "tests" / "data" / "4.3.1" / "data"

CALLS = ("mkdir", "open", "fsync", "link", "unlink", "rename", "replace", "rmdir")
"""Functions of ``os`` that modify the disk or synchronize it."""

_OF_WRITERS = os.O_WRONLY | os.O_RDWR | os.O_DIRECTORY
"""Flags of ``open`` for written files, and for directories that are synchronized."""

KILLED = {-signal.SIGKILL, -signal.SIGXFSZ}
"""Exit codes of runs that SIGKILL or the file size limit has ended."""

COMMANDS = "kwire.cli.main:program"
"""Target that runs kwire's command line program."""

_LOADED = (
    "kwire.cli.main",
    "kwire.jobs.export_job.job",
    "kwire.jobs.audit_job.job",
    "kwire.jobs.offsets_job.job",
    "kwire.recording.relay",
    "pyarrow.parquet",
    *(
        f"kwire.cli.commands.{name}"
        for name in ("audit", "dump", "export", "offsets", "record", "repair")
    ),
)
_SAID = "out", "err", "calls"
_TIMEOUT_S = 30


class Fault(NamedTuple):
    """Fault that interrupts a run.

    * ``kill_call``: kill the run before this call of ``CALLS``, counted from 1.
    * ``kill_name``: count only calls of this function.
    * ``stop_call``: stop the run at this call until SIGCONT.
    * ``kill_after_s``: kill the run from outside after this number of seconds.
    * ``file_bytes``: maximum file size. Writing more causes an error.
    * ``dies``: exceeding ``file_bytes`` terminates the process instead.
    * ``full_from``: of the incomplete files, this and later ones are on a full disk.
    * ``has_no_rights``: drop root's permission to write everywhere.
    """

    kill_call: int = 0
    kill_name: str = ""
    stop_call: int = 0
    kill_after_s: float = 0.0
    file_bytes: int = 0
    dies: bool = False
    full_from: int = 0
    has_no_rights: bool = False


NONE = Fault()


class Run(NamedTuple):
    """Result of a run.

    * ``out``, ``err``: standard output and standard error output.
    * ``calls``: names of the executed calls of ``CALLS``.
    * ``seconds``: duration.
    """

    code: int
    out: str
    err: str
    calls: list[str]
    seconds: float


class Going(NamedTuple):
    """Run that has been started. ``folder`` contains its output and its calls."""

    pid: int
    folder: Path
    fault: Fault

    def said(self) -> str:
        """Return the standard error output that the run has written so far."""
        return (self.folder / "err").read_text()

    def calls(self) -> list[str]:
        """Return the names of the ``CALLS`` that the run has executed so far."""
        return (self.folder / "calls").read_text().split()


class Runner:
    """Process that forks for every run of a function.

    ``loads`` names modules that it imports in advance, in addition to kwire's. It ends
    with the ``with`` block.
    """

    def __init__(self, *loads: str) -> None:
        self._loads = loads
        self._started = 0

    def __enter__(self) -> Runner:
        """Start the process, which imports all required modules."""
        self._folder = Path(tempfile.mkdtemp(prefix="kwire-faults-"))
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tools.prove.fault_runs", *self._loads],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), *sys.path))},
        )
        return self

    def __exit__(self, *_: object) -> None:
        """End the process and delete the output of its runs."""
        self._server.communicate(timeout=_TIMEOUT_S)
        shutil.rmtree(self._folder)

    def run(
        self,
        arguments: Sequence[str],
        fault: Fault = NONE,
        folder: Path | None = None,
        target: str = COMMANDS,
    ) -> Run:
        """Run ``target`` with arguments, and wait for its end.

        ``folder`` is the working directory. By default, it is a new directory.
        """
        return self.wait(self.start(arguments, fault, folder, target))

    def start(
        self,
        arguments: Sequence[str],
        fault: Fault = NONE,
        folder: Path | None = None,
        target: str = COMMANDS,
    ) -> Going:
        """Start a run and return it without waiting for its end.

        ``target`` is "module:function". The function receives ``arguments`` as its
        parameter.
        """
        self._started += 1
        said = self._folder / str(self._started)
        said.mkdir()
        for name in _SAID:
            (said / name).touch()
        order = {
            "target": target,
            "arguments": arguments,
            "fault": fault,
            "folder": str(folder or said),
            "said": str(said),
        }
        return Going(self._asked(order), said, fault)

    def wait(self, going: Going) -> Run:
        """Wait for the end of a run.

        The run is killed after ``kill_after_s`` seconds, or after ``_TIMEOUT_S``
        without it.
        """
        order = {"wait": going.pid, "most_s": going.fault.kill_after_s or _TIMEOUT_S}
        code, seconds = self._asked(order)
        out, err = ((going.folder / name).read_text() for name in ("out", "err"))
        return Run(code, out, err, going.calls(), seconds)

    def _asked(self, order: dict[str, Any]) -> Any:
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        line = self._server.stdout.readline()
        assert line, "the process that runs commands is gone"
        return json.loads(line)


def serve(loads: Sequence[str]) -> None:
    """Read orders from the standard input, one JSON object per line, and answer them.

    An order starts a run in a forked process, or waits for the end of a run.
    """
    for name in (*_LOADED, *loads):
        importlib.import_module(name)
    with suppress(ImportError):
        # pyarrow imports pandas at its first conversion. Import it before the first
        # fork.
        importlib.import_module("pandas")
    begun: dict[int, float] = {}
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            pid = order["wait"]
            begin = begun.pop(pid)
            code = _end_of(pid, begin + order["most_s"])
            print(json.dumps([code, time.monotonic() - begin]), flush=True)
            continue
        begin = time.monotonic()
        pid = os.fork()
        if not pid:
            _be_the_run(order)
        begun[pid] = begin
        print(pid, flush=True)
    for pid in begun:
        _end_of(pid, 0)


def _end_of(pid: int, kill_at: float) -> int:
    while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if time.monotonic() >= kill_at:
            os.kill(pid, signal.SIGKILL)
            break
        time.sleep(0.0005)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _be_the_run(order: dict[str, Any]) -> None:
    """Run the target of an order in the forked process. This function never returns."""
    said = Path(order["said"])
    out, err, calls = (os.open(said / name, os.O_WRONLY) for name in _SAID)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(order["folder"])
    module, _, name = order["target"].partition(":")
    function = getattr(importlib.import_module(module), name)
    arm(Fault(*order["fault"]), calls)
    code = 1
    try:
        function(order["arguments"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def arm(fault: Fault, calls_seen: int) -> None:
    """Install a fault in this process.

    The names of the executed ``CALLS`` are written to the file descriptor
    ``calls_seen``.
    """
    calls = partial_files = 0
    plain_open = os.open

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def watch(*values: Any, **options: Any) -> Any:
            nonlocal calls
            if call.__name__ == "open" and not values[1] & _OF_WRITERS:
                return call(*values, **options)
            if fault.kill_name in ("", call.__name__):
                calls += 1
                if calls == fault.kill_call:
                    os.kill(os.getpid(), signal.SIGKILL)
                if calls == fault.stop_call:
                    os.kill(os.getpid(), signal.SIGSTOP)
            os.write(calls_seen, f"{call.__name__}\n".encode())
            return call(*values, **options)

        return watch

    def open_on_a_full_disk(path: Any, flags: int, *values: Any, **options: Any) -> int:
        nonlocal partial_files
        handle = plain_open(path, flags, *values, **options)
        if str(path).endswith(".partial"):
            partial_files += 1
            if partial_files >= fault.full_from:
                full = plain_open("/dev/full", os.O_WRONLY)
                os.dup2(full, handle)
                os.close(full)
        return handle

    open_on_a_full_disk.__name__ = "open"

    if fault.full_from:
        os.open = open_on_a_full_disk
    for name in CALLS:
        setattr(os, name, watched(getattr(os, name)))
    if fault.file_bytes:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if fault.dies else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limits = fault.file_bytes, resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    if fault.has_no_rights:
        _drop_rights()


def _drop_rights() -> None:
    """Drop root's capabilities, so that file permissions apply as for other users."""
    version, nothing = 0x20080522, (ctypes.c_uint32 * 6)()
    head = (ctypes.c_uint32 * 2)(version, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capset(head, nothing):
        raise OSError(ctypes.get_errno(), "capset")


class Work(NamedTuple):
    """Command, the path of its output, and its exit code without faults."""

    name: str
    arguments: tuple[str, ...]
    output: str
    code: int = 0


def make_inputs(folder: Path) -> None:
    """Write logs and captures, which are the inputs of the commands.

    Their content is the same in every run.
    """
    from kwire import records

    chance = random.Random(6)
    for broker in "broker-1", "broker-2":
        for base in 0, 400:
            log = folder / "disks" / broker / "orders-0" / f"{base:020}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            chance.seed(base)
            data = [
                records.encode_batch(
                    [(b"key", chance.randbytes(100), 1_700_000_000_000, [])] * 2
                    + [(None, chance.randbytes(90), 1_700_000_000_001, [])] * 18,
                    base_offset=at,
                    compression="none",
                )
                for at in range(base, base + 400, 20)
            ]
            if broker == "broker-1" and not base:
                data[5] = data[5][:-9] + bytes(9)
            log.write_bytes(b"".join(data))
    _write_captures(folder / "captures.parquet")


def _write_captures(path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    from kwire import messages
    from kwire.messages import framing
    from kwire.recording import capture_schema

    rows = []
    for number in range(300):
        request = messages.ApiVersionsRequest(
            client_software_name="shop", client_software_version=f"1.{number}"
        )
        frame = framing.encode_request(request, 3, number, client_id=f"shop-{number}")
        rows.append(
            {
                "recording": "made",
                "connection": number,
                "sequence": number,
                "direction": "request",
                "client_address": f"10.0.0.{number % 250}:1234",
                "broker_address": "10.9.9.1:9092",
                **{"api_key": 18, "api_version": 3, "correlation_id": number},
                "client_id": f"shop-{number}",
                "size": len(frame) - 4,
                "frame": frame[4:],
            }
        )
    table = pyarrow.Table.from_pylist(rows, schema=capture_schema())
    pyarrow.parquet.write_table(table, path)


def works(inputs: Path) -> list[Work]:
    """Return the commands that write files. They write to the working directory."""
    disks = str(inputs / "disks")
    damaged = str(inputs / "disks" / "broker-1" / "orders-0" / f"{0:020}.log")
    sound = str(inputs / "disks" / "broker-2")
    captures = str(inputs / "captures.parquet")
    groups = str(DATA / "__consumer_offsets-0")
    return [
        Work("repair", ("repair", damaged, "--output", "good.log"), "good.log", code=1),
        Work("dump to Parquet", ("dump", sound, "--output", "a.parquet"), "a.parquet"),
        Work("dump to lines", ("dump", sound, "--output", "a.jsonl"), "a.jsonl"),
        Work("export", ("export", disks, "--output", "rescued"), "rescued"),
        Work(
            "audit",
            ("audit", captures, "--target", "4.3.1", "--output", "judged"),
            "judged",
        ),
        Work("offsets", ("offsets", groups, "--output", "groups"), "groups"),
    ]


def content(path: Path) -> dict[str, bytes]:
    """Return the bytes of a file, or of all files in a directory, by relative path."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def judge(folder: Path, work: Work, whole: dict[str, bytes]) -> bool:
    """Return whether a run has written its output.

    ``whole`` is the content of the complete output. Raises ``AssertionError`` if the
    output is incomplete, or if the directory contains an unexpected file.
    """
    for path in folder.iterdir():
        assert path.name == work.output or ".partial" in path.name, path
    out = folder / work.output
    if not os.path.lexists(out):
        return False
    files = content(out)
    wrong = [n for n in files.keys() | whole if files.get(n) != whole.get(n)]
    assert not wrong, f"{work.name}: {out} is not whole: {sorted(wrong)}"
    return True


if __name__ == "__main__":
    serve(sys.argv[1:])
