# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The program as a process: pipes, terminals, signals, imports, memory."""

import errno
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import kwire as installed
from tests.cli.made_logs import rows, write_log

SOURCE = Path(installed.__file__).parents[1]
PROGRAM = [sys.executable, "-m", "kwire"]
UNWANTED = "NO_COLOR", "COLUMNS", "PYTHONUNBUFFERED"
ENGINES = [installed.backend]
if installed.backend == "fast":
    ENGINES.append(pytest.param("pure", marks=pytest.mark.gate))


@pytest.fixture(params=ENGINES)
def environment(request):
    """Environment for a process that runs the program with one engine."""
    return {
        **{k: v for k, v in os.environ.items() if k not in UNWANTED},
        "KWIRE_BACKEND": request.param,
        "PYTHONPATH": str(SOURCE),
        "TERM": "xterm-256color",
        "LC_ALL": "C",
    }


def start(args, environment, **options):
    """Start the program, and return its process. By default, its output is captured."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    command = [*PROGRAM, *map(str, args)]
    return subprocess.Popen(command, env=environment, **options)


def in_terminal(args, environment, columns=80, output=None):
    """Run the program with stderr in a terminal.

    ``output`` is the file for stdout. By default, stdout is in the terminal as well.
    """
    parent, child = pty.openpty()
    os.set_blocking(parent, False)
    import fcntl
    import termios

    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = start(
        args, environment, stdin=child, stdout=output or child, stderr=child
    )
    os.close(child)
    received = b""
    while True:
        ended = process.poll() is not None
        select.select([parent], [], [], 0.05)
        try:
            piece = os.read(parent, 65536)
        except BlockingIOError:
            piece = b""
        except OSError as error:
            assert error.errno == errno.EIO
            break
        received += piece
        if ended and not piece:
            break
    os.close(parent)
    return process.wait(), received.decode()


def visible(text):
    """Remove the control sequences, which a terminal does not display."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r\n", "\n")


def test_data_goes_to_stdout_alone_and_plain(orders, environment):
    for command in (["ls"], ["dump"], ["verify"], ["dump", "--batches"]):
        process = start([*command, orders], environment)
        out, err = process.communicate()
        assert process.returncode == 0
        assert b"\x1b" not in out + err, "no colour and no bar in a pipe"
        assert b"orders" not in err


def test_output_is_utf8_whatever_the_locale(tmp_path, environment):
    write_log(tmp_path / "odd-0", [[("ключ".encode(), "日本".encode())]])
    environment |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "POSIX"}
    for form in ("table", "jsonl", "csv"):
        process = start(["dump", tmp_path, "-o", form], environment)
        out, err = process.communicate()
        assert (process.returncode, err) == (0, b"")
        assert "ключ" in out.decode() and "日本" in out.decode()


def test_directory_names_that_are_not_text_are_escaped(tmp_path, environment):
    folder = os.fsencode(tmp_path) + b"/\xe9t\xe9-0"
    try:
        os.mkdir(folder)
    except OSError as error:  # Some file systems do not allow such names.
        assert error.errno == errno.EILSEQ
        return
    write_log(Path(os.fsdecode(folder)), [rows(0, 1)])
    for args in (["ls", "-o", "jsonl"], ["ls"], ["dump", "-o", "csv"]):
        process = start([*args, tmp_path], environment)
        out, _ = process.communicate()
        # JSON escapes the backslash before the escaped byte.
        name = b"\\\\xe9t\\\\xe9" if "jsonl" in args else b"\\xe9t\\xe9"
        assert process.returncode == 0 and name in out


def test_a_closed_pipe_ends_it_quietly(tmp_path, environment):
    write_log(tmp_path / "many-0", [rows(n, 100) for n in range(0, 5000, 100)])
    process = start(["dump", tmp_path, "-o", "jsonl"], environment)
    assert process.stdout.readline().startswith(b'{"topic":"many"')
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_closed_pipe_is_not_reported_as_an_unreadable_file(damaged, environment):
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = start(["verify", damaged], environment, stdout=write_end)
    os.close(write_end)
    _, err = process.communicate()
    assert (process.returncode, err) == (141, b"")


def test_the_first_line_comes_before_all_is_read(tmp_path, environment):
    """Output starts immediately, although the next segment is a pipe without data."""
    write_log(tmp_path / "slow-0", [rows(0, 3)])
    second = tmp_path / "slow-0" / f"{3:020}.log"
    os.mkfifo(second)
    process = start(["dump", tmp_path, "-o", "jsonl"], environment)
    try:
        ready, _, _ = select.select([process.stdout], [], [], 30)
        assert ready, "nothing was printed while the second file was waited for"
        assert b'"offset":0' in os.read(process.stdout.fileno(), 65536)
    finally:
        process.kill()
        process.communicate()


def test_interrupting_leaves_no_traceback(tmp_path, environment):
    write_log(tmp_path / "many-0", [rows(n, 500) for n in range(0, 20000, 500)])
    process = start(["dump", tmp_path, "-o", "jsonl"], environment)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_a_terminal_gets_lines_of_its_width(tmp_path, environment):
    wide = [("键" * 40).encode(), b"v" * 200]
    write_log(tmp_path / "wide-0", [[tuple(wide), (b"k", "日本語".encode() * 30)]])
    environment |= {"LC_ALL": "C.UTF-8"}
    code, output = in_terminal(["dump", tmp_path], environment)
    assert code == 0 and "\x1b[1m" in output, "titles are bold in a terminal"
    lines = visible(output).splitlines()
    from rich.cells import cell_len

    assert max(map(cell_len, lines)) == 80
    assert all(line.endswith("…") for line in lines[2:4])
    assert "vvv" in lines[2], "a long key must not push the value out"
    _, plain = in_terminal(["dump", tmp_path], environment | {"NO_COLOR": "1"})
    assert "\x1b[1m" not in plain


def test_progress_is_for_terminals_and_gone_in_the_end(tmp_path, environment):
    path = write_log(tmp_path / "many-0", [rows(n, 500) for n in range(0, 5000, 500)])
    target = tmp_path / "out.jsonl"
    code, output = in_terminal(["dump", path, "--output", target], environment)
    assert code == 0 and "━" in output and "/s" in output
    assert output.rstrip().endswith("\x1b[2K"), "the bar takes itself away"
    with open(tmp_path / "lines", "wb") as file:
        _, output = in_terminal(["dump", path], environment, output=file)
    assert "━" in output, "a bar on stderr while stdout goes to a file"
    _, output = in_terminal(["dump", path], environment)
    assert "━" not in output, "no bar among the lines of a terminal"


def test_problems_do_not_run_into_the_bar(damaged, environment):
    code, output = in_terminal(["verify", damaged], environment, columns=400)
    assert code == 1
    (line,) = (line for line in output.split("\n") if ": crc:" in line)
    assert visible(line.rpartition("\x1b[2K")[2].rpartition("\r")[0]).startswith("/")


def test_program_without_arguments_prints_the_engine(environment):
    process = start([], environment)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert re.fullmatch(r"kwire \S+, (fast|pure) engine: .+\n", out.decode())
    assert environment["KWIRE_BACKEND"] in out.decode()


def test_missing_click_is_a_one_line_error(tmp_path, environment):
    (tmp_path / "click.py").write_text("raise ModuleNotFoundError(name='click')\n")
    environment |= {"PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCE}"}
    process = start(["ls", tmp_path], environment)
    out, err = process.communicate()
    assert (process.returncode, out) == (2, b"")
    assert err == b"kwire: the command line requires click: pip install kwire[cli]\n"


def test_missing_pyarrow_is_a_one_line_error(orders, tmp_path, environment):
    (tmp_path / "pyarrow.py").write_text("raise ImportError\n")
    environment |= {"PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCE}"}
    target = tmp_path / "x.parquet"
    process = start(["dump", orders, "--output", target], environment)
    _, err = process.communicate()
    assert process.returncode == 2 and not target.exists()
    assert err == b"kwire: parquet requires pyarrow: pip install kwire[arrow]\n"


def test_the_library_loads_no_command_line(environment):
    code = (
        "import sys, kwire, kwire.cli; from kwire import records\n"
        "print(*[n for n in ('click', 'rich', 'pyarrow') if n in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, env=environment) == b"\n"


def peak(args, environment):
    """Run the program without output. Return its peak memory in bytes.

    ``ru_maxrss`` cannot be used, because it includes the forked parent's memory.
    """
    code = (
        "import kwire.cli\n"
        "try: kwire.cli.main()\n"
        "finally: print(open('/proc/self/status').read())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(re.search(rb"VmHWM:\s+([0-9]+) kB", done.stdout)[1]) * 1024


@pytest.mark.gate
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_memory_does_not_grow_with_the_file(tmp_path, environment, compression):
    """The peak memory does not grow if a log has 40 MB instead of 20 MB of values."""
    row = b"k", bytes(range(256)) * 4096
    sizes = []
    for count in (20, 40):
        folder = tmp_path / str(count)
        write_log(folder / "large-0", [([row], {"compression": compression})] * count)
        for args in (
            ["verify", "--deep"],
            ["dump", "--output", tmp_path / f"{count}.jsonl"],
            ["dump", "--output", tmp_path / f"{count}.parquet"],
        ):
            sizes.append(peak([*args, folder], environment))
    for few, many in zip(sizes[:3], sizes[3:], strict=True):
        assert many - few < 10 * 1024 * 1024, (few, many)


@pytest.mark.parametrize("unbuffered", [True, False])
@pytest.mark.parametrize(
    "form", [["-f", r"%k\n"], ["-o", "jsonl"], ["-o", "csv"], ["-o", "table"]]
)
def test_output_is_written_by_chunk(environment, tmp_path, form, unbuffered):
    """Records share a write, because each write to the socket is a packet.

    PYTHONUNBUFFERED does not change this.
    """
    write_log(tmp_path / "orders-0", [rows(n, 100) for n in range(0, 5000, 100)])
    if unbuffered:
        environment |= {"PYTHONUNBUFFERED": "1"}
    reading, writing = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with reading, start(["dump", tmp_path, *form], environment, stdout=writing) as run:
        writing.close()
        writes = iter(lambda: reading.recv(1 << 20), b"")
        sizes = [(len(data), data.count(b"\n")) for data in writes]
        assert run.wait(60) == 0 and run.stderr.read() == b""
    assert 5000 <= sum(lines for _, lines in sizes) <= 5001
    assert len(sizes) < 120
