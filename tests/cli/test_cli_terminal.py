# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Control characters in names, text or errors never reach the terminal.

All commands and formats run in a terminal with inputs that contain such characters.
After the colors and the progress bar of kwire are removed, the output must be
printable.
"""

import ast
import csv
import io
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from confluent_kafka import Producer

from kwire.cli.output.tables import Csv, Output
from kwire.connection.negotiation import ApiVersionTable
from tests.cli import hostile_inputs
from tests.cli.hostile_inputs import NAME, TEXT
from tests.cli.pseudo_terminal import run_in_terminal
from tests.cli.test_cli_process import PROGRAM, SOURCE
from tests.harness.loopback_brokers import Broker

OUR_OWN = re.compile(
    r"\x1b\[(?:0|1|2|3|[0-9;]*3[0-9]|[0-9;]*9[0-7]|38;[0-9;]+|[0-9;]*49|39)*m"
    r"|\x1b\[\?25[hl]|\x1b\[2K|\x1b\[1A|\r"
)
"""Styles and movements of the bar: hidden cursor, erased line, one line up."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Directory with all hostile inputs, which is the current directory."""
    root = tmp_path_factory.mktemp("hostile")
    (root / "good").mkdir()
    hostile_inputs.write_topic(root / "good")
    hostile_inputs.write_groups(root / "groups")
    hostile_inputs.write_topic(root / "groups")
    path = hostile_inputs.write_damaged(root / "bad")
    path.with_name("\x1b[2J.checkpoint").write_bytes(b"x")
    hostile_inputs.write_request_log(root / f"{NAME}.log")
    hostile_inputs.write_frames(root / f"{NAME}.bin")
    (root / "many").mkdir()
    hostile_inputs.write_topic(root / "many" / NAME)
    return root


@pytest.fixture
def read_screen(hostile, monkeypatch, tmp_path):
    """Function that runs a command in a terminal.

    Returns the exit code and the text without the control sequences of kwire.
    """
    monkeypatch.chdir(hostile)

    def run(*args):
        args = [str(arg).replace("NEW", str(tmp_path / "new")) for arg in args]
        code, text = run_in_terminal(args, monkeypatch)
        return code, check_text(text)

    return run


def check_text(text):
    """Remove the control sequences of kwire, and return the other text.

    Fail if it contains control characters or a forged line.
    """
    plain = OUR_OWN.sub("", text)
    wrong = {c for c in plain if not c.isprintable() and c not in "\n\t"}
    assert not wrong, f"{sorted(map(hex, map(ord, wrong)))} in {plain!r}"
    assert "\nFORGED" not in plain, "a name has a line of its own"
    return plain


BIN, LOG = f"{NAME}.bin", f"{NAME}.log"
LISTEN = ["--listen", "127.0.0.1:0", "--seconds", "1"]
ROWS = ["table", "jsonl", "csv"]
COMMANDS = [
    *(["ls", "good", "groups", "-o", form] for form in ROWS),
    *(["ls", "-l", "many", "-o", form] for form in ROWS),
    *(["dump", "good", "groups", "-o", form] for form in ROWS),
    *(["dump", "good", "--csv-exact", "-o", form] for form in ["csv"]),
    *(["dump", "groups", "--raw", "-o", form] for form in ROWS),
    *(["dump", "good", "--batches", "-o", form] for form in ROWS),
    *(["dump", "bad", "--skip-corrupt", "-o", form] for form in ROWS),
    ["dump", "bad"],
    ["dump", "good", "groups", "-f", r"%t %p %o %k %v %h %K %S %T %s\n"],
    ["dump", "good", "--output", "NEW.jsonl"],
    *(["verify", "good", "bad", "-o", form] for form in ROWS),
    ["verify", "--deep", "many"],
    *(["repair", f"bad/{NAME}-0/{0:020}.log", "--output", "NEW"] for form in ROWS),
    *(["export", "good", "bad", "--output", "NEW", "-o", form] for form in ROWS),
    *(["offsets", "groups", "--output", "NEW", "-o", form] for form in ROWS),
    ["offsets", "groups", "--output", "NEW", "-g", NAME],
    *(["audit", LOG, "--output", "NEW", "--target", "4.1", "-o", f] for f in ROWS),
    *(["decode", f"@{BIN}", "-o", form] for form in ("json", "jsonl", "repr")),
    *(["explain", f"@{BIN}", "-o", form] for form in ("table", "jsonl")),
    ["explain", f"@{BIN}", "--html", "NEW"],
    *([command, "good", NAME] for command in ("ls", "dump", "verify", "export")),
    ["ls", "good", "-t", NAME + "y"],
    ["decode", NAME],
    ["decode", "--message", NAME, "00"],
    ["schema", NAME],
    ["schema", "--release", NAME],
    ["schema", "--html", f"{NAME}/x"],
    ["versions", NAME],
    ["topics", NAME],
    ["topics", "127.0.0.1:1", NAME],
    ["topics", "127.0.0.1:1", NAME, "--delete"],
    ["topics", "127.0.0.1:1", "--create", "a", "--topic-config", NAME],
    ["groups", NAME],
    ["groups", "127.0.0.1:1", NAME],
    ["groups", "127.0.0.1:1", NAME, "--reset", NAME],
    ["configs", NAME],
    ["configs", "127.0.0.1:1", NAME],
    ["configs", "127.0.0.1:1", "--broker", NAME],
    ["configs", "127.0.0.1:1", "a", "--set", NAME],
    ["configs", "127.0.0.1:1", "a", "--set", f"{NAME}=1", "--unset", NAME],
    ["read", NAME, NAME],
    ["read", "127.0.0.1:1", NAME],
    ["read", "127.0.0.1:1", "orders", "--from", NAME],
    ["read", "127.0.0.1:1", "orders", "--output", f"x.{NAME}"],
    ["write", NAME, NAME, LOG],
    ["write", "127.0.0.1:1", NAME, LOG],
    ["restore", NAME, "good"],
    ["restore", "127.0.0.1:1", "good", "bad"],
    ["restore", "127.0.0.1:1", NAME],
    ["restore", "127.0.0.1:1", "good", "--create-topics", "--topic-config", NAME],
    ["versions", "127.0.0.1:1", "--require", NAME],
    ["record", "--listen", NAME, "--upstream", NAME, "--output", NAME],
    ["record", *LISTEN, "--upstream", f"{NAME}:1", "--output", "NEW"],
    ["serve", "--topic", NAME],
    ["serve", "--release", NAME],
    ["serve", NAME],
    ["completion", NAME],
    ["drafts", NAME],
    ["spark-bundle", "--output", f"{NAME}.txt"],
    ["spark-bundle", "--output", "NEW", "--wheel", NAME],
    ["dump", "good", "--key", f"hex:{NAME}"],
    ["dump", "good", "--from", NAME],
    ["dump", "good", "--output", f"x.{NAME}"],
    ["dump", "good", "-f", f"%{NAME}"],
    ["audit", LOG, "--target", NAME, "--output", "NEW"],
    ["audit", LOG, "--target", "4.1", "--time-zone", NAME, "--output", "NEW"],
    [NAME],
    [f"--{NAME}"],
    ["ls", f"--{NAME}"],
    ["ls", "good", "-o", NAME],
]


@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: " ".join(args)[:40].strip())
def test_nothing_steers_the_terminal(read_screen, args):
    """Commands print no control characters from the names in their input."""
    code, text = read_screen(*args)
    assert "Traceback" not in text
    assert text.strip() or code == 0


@pytest.mark.parametrize("form", ["table", "jsonl", "compat"])
def test_brokers_do_not_steer_the_terminal(read_screen, form):
    """Racks, hosts and feature names are strings from a broker."""
    broker = Broker(ApiVersionTable.of_release("3.9"), 1, rack=TEXT)
    second_broker = SimpleNamespace(node_id=2, host=f"{NAME}..h", port=9092, rack=TEXT)
    broker.cluster = [broker, second_broker]
    with broker:
        code, text = read_screen("versions", broker.address, "--timeout", 2, "-o", form)
    assert code == 2 and "Traceback" not in text


@pytest.fixture(scope="module")
def hostile_cluster():
    """Address of a broker with a topic that contains control sequences."""
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
    for key, value in ((TEXT, "=1+1"), ("\x9b5m", TEXT)):
        handle.produce(NAME, value, key, headers=[(NAME, TEXT)], partition=0)
    assert handle.flush(10) == 0
    (broker,) = handle.list_topics(timeout=10).brokers.values()
    yield f"{broker.host}:{broker.port}"
    del handle


FORMAT = r"%t %p %o %k %v %h %K %S %T %s\n"


@pytest.mark.parametrize(
    "args",
    [
        *(["topics", "-o", form] for form in ROWS),
        *(["read", NAME, "-o", form] for form in ROWS),
        ["read", NAME, "-f", FORMAT],
        ["read", NAME, "-p", "9"],
        ["read", NAME, "--output", "NEW.arrow"],
        ["read", NAME + "y"],
        ["topics", NAME + "y"],
    ],
    ids=lambda args: " ".join(args)[:40].strip(),
)
def test_live_topics_do_not_steer_the_terminal(read_screen, hostile_cluster, args):
    """Topic names, keys, values and headers are written by other users."""
    code, text = read_screen(args[0], hostile_cluster, *args[1:])
    assert "Traceback" not in text
    assert code == (2 if NAME + "y" in args or "9" in args else 0)
    if args[-1] in ROWS or FORMAT in args:
        assert "]52" in text, "the topic is there, with its name escaped"


def test_every_command_is_tried(run):
    """The test fails if a new command is not tried with hostile names."""
    from kwire.cli.main import program

    tried = {args[0] for args in COMMANDS}
    assert set(program.list_commands(None)) <= tried


def test_output_of_libraries_is_escaped():
    """Tracebacks, warnings, logs and prints of libraries are escaped as well."""
    script = (
        "import logging, sys, warnings\n"
        "from kwire.cli.output.terminal import guard_terminals\n"
        "guard_terminals()\n"
        "import click\n"
        f"text = {NAME!r}\n"
        "print(text); click.echo(text, err=True); logging.error(text)\n"
        "warnings.warn(text); sys.stdout.write(text + '\\n'); sys.stderr.write(text)\n"
        "raise ValueError(text)\n"
    )
    text = check_text(under_terminal([sys.executable, "-c", script]))
    assert text.count("\\x1b]52") >= 7 and "ValueError: " in text


def under_terminal(command):
    """Run any program with its output in a terminal, and return the output."""
    import pty

    parent, child = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(command, stdout=child, stderr=child, env=environment)
    os.close(child)
    pieces = []
    try:
        while piece := os.read(parent, 65536):
            pieces.append(piece)
    except OSError:
        pass  # The other end is closed.
    os.close(parent)
    process.wait()
    return b"".join(pieces).decode()


ALLOWED = {
    "cli/__init__.py": "the line for who lacks click and rich, without a name in it",
    "cli/output/console.py": "consoles of rich, which escape what they draw",
    "cli/output/tables.py": "Output, whose stream is that of terminal.py in a terminal",
    "cli/main.py": "flushing stdout, and closing it when its reader is gone",
}


def test_one_module_writes_to_the_streams():
    """Only the module that escapes text may print, echo or create a console."""
    folders = [SOURCE / "kwire" / name for name in ("cli", "jobs", "recording")]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    writers = set()
    for path in files:
        if any(map(writes_itself, ast.walk(ast.parse(path.read_text())))):
            writers.add(path.relative_to(SOURCE / "kwire").as_posix())
    assert writers == {"cli/output/terminal.py", *ALLOWED}


STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")


def writes_itself(node):
    """Return whether code writes to a stream without ``terminal.py``."""
    match node:
        case ast.Call(func=ast.Name(id="print")):
            return True
        case ast.Attribute(value=ast.Name(id="click"), attr=name):
            return name in ("echo", "secho", "style", "echo_via_pager", "progressbar")
        case ast.Attribute(value=ast.Name(id="sys"), attr=name):
            return name in STREAMS
        case ast.ImportFrom(module="rich.console", names=names):
            return any(name.name == "Console" for name in names)
        case ast.ImportFrom(module="sys", names=names):
            return any(name.name in STREAMS for name in names)
        case ast.ImportFrom(module="rich" | "click", names=names):
            return any(name.name in ("print", "echo", "secho") for name in names)
        case ast.Import(names=names):
            return any(name.name in ("logging", "warnings") for name in names)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="write")):
            return True
    return False


@pytest.mark.parametrize(
    "code",
    [
        "print(name)",
        "click.echo(name)",
        "sys.stderr.write(name)",
        "from rich.console import Console",
        "from sys import stdout",
        "from rich import print",
        "os.write(2, name)",
    ],
)
def test_scan_detects_indirect_writes_to_the_streams(code):
    """The scan must find each of these ways to write to the streams."""
    assert any(map(writes_itself, ast.walk(ast.parse(code))))


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\uff20SUM", "'\uff20SUM"),
        ("\r=1", "'\r=1"),
        ("'=1", "''=1"),
        ("-1", "-1"),
        ("+4.5", "+4.5"),
        ("-", "'-"),
        ("'quoted'", "'quoted'"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_spreadsheets_run_nothing(text, safe):
    """A CSV cell is never a formula, while numbers remain numbers."""
    stream = io.StringIO()
    rows = Csv(Output(stream), ["text", "number"], True)
    rows.write({"text": text, "number": -1})
    parsed = list(csv.reader(io.StringIO(stream.getvalue(), newline="")))
    assert parsed == [["text", "number"], [safe, "-1"]]


@pytest.mark.parametrize("option", ["--csv-safe", "--csv-exact", None])
def test_csv_is_safe_in_files_and_exact_in_pipes(hostile, tmp_path, option):
    """Files are escaped for spreadsheets, while pipes contain the exact data."""
    command = [*PROGRAM, "dump", str(hostile / "good"), "-o", "csv"]
    command += [option] if option else []
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    with open(tmp_path / "redirected", "wb") as file:
        subprocess.run(command, stdout=file, env=environment, check=True)
    named_file = tmp_path / "named.csv"
    subprocess.run([*command, "--output", str(named_file)], env=environment, check=True)
    pipe = subprocess.run(command, capture_output=True, env=environment, check=True)
    texts = {
        "redirected": (tmp_path / "redirected").read_bytes(),
        "named": named_file.read_bytes(),
        "pipe": pipe.stdout,
    }
    for name, text in texts.items():
        safe = option == "--csv-safe" or (option is None and name != "pipe")
        assert (b",'=1+1," in text) == safe, name
        assert (b",=1+1," in text) != safe, name


def test_rows_are_one_line_in_a_pipe(hostile, run):
    """A name with a line break cannot forge another row."""
    for args in (["ls", "good"], ["dump", "groups"], ["dump", "good"]):
        ran = run(args[0], hostile / args[1])
        assert "\nFORGED" not in ran.out and "\r" not in ran.out
