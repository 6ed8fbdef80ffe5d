# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Archive for Spark's workers: its content, and its import as kwire.

``tools/interop/spark/shipping.py`` uses the archive in a cluster whose worker processes
lack kwire. These tests use an interpreter without site packages.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import kwire
import kwire.spark
from kwire.cli.main import program
from kwire.spark.shipping.bundle import bundle, setting

ROOT = Path(__file__).resolve().parents[2]

LOOK = """
import sys
sys.path.insert(0, sys.argv[1])
import kwire.client, kwire.log, kwire
from kwire.records import compression
from kwire import messages
print(kwire.__file__, kwire.backend, kwire.__version__)
assert sys.modules["kwire"].log is kwire.log
assert kwire.decode(messages.FetchRequest, kwire.encode(messages.FetchRequest(), 4), 4)
import importlib.util
print([name for name in ("cramjam", "pyspark_kwire") if importlib.util.find_spec(name)])
"""


def names_in(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return set(archive.namelist())


def import_unpacked(tmp_path, archive):
    """Unpack the archive as Spark does, and import kwire from it.

    Return the output of the interpreter.
    """
    root = tmp_path / "root"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(root / "kwire")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LOOK, str(root)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return root, done.stdout.splitlines()


def test_archive_contains_the_installed_kwire(tmp_path):
    root, (import_line, packages) = import_unpacked(
        tmp_path, bundle(tmp_path / "deps.zip")
    )
    package = root / "kwire" / "kwire" / "__init__.py"
    assert import_line == f"{package} {kwire.backend} {kwire.__version__}"
    assert packages == "['cramjam', 'pyspark_kwire']"


def test_archive_contains_formats_and_definitions_but_no_engine_sources(tmp_path):
    names = names_in(bundle(tmp_path / "deps.zip"))
    formats = {"pyspark_kwire/__init__.py", "pyspark_kwire_capture.py"}
    assert formats | {"pyspark_kwire_live.py"} <= names
    assert "kwire/schema/definitions/001-Fetch.txt" in names
    assert any(name.endswith(".dist-info/METADATA") for name in names)
    suffixes = {Path(name).suffix for name in names}
    assert not suffixes & {".pyx", ".pxd", ".h", ".c", ".pyc"}
    compiled = {
        name for name in names if name.startswith("kwire/_engine/fast/decoder.")
    }
    assert len(compiled) == (kwire.backend == "fast")


def test_another_pythons_engine_stays_out(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "kwire.spark.shipping.bundle.EXTENSION_SUFFIXES", [".cpython-399.so"]
    )
    names = names_in(bundle(tmp_path / "deps.zip"))
    assert not any(name.endswith(".so") for name in names)


def test_archive_contains_no_path_of_this_machine(tmp_path):
    """The archive contains no path of the machine that created it.

    In an editable installation, kwire's files contain the path of the source tree.
    """
    with zipfile.ZipFile(bundle(tmp_path / "deps.zip")) as archive:
        for name in archive.namelist():
            if name.endswith((".py", ".txt", ".json", "METADATA", "WHEEL", "RECORD")):
                assert str(ROOT).encode() not in archive.read(name), name


def test_the_same_files_give_the_same_bytes(tmp_path):
    first, again = (bundle(tmp_path / f"{n}.zip").read_bytes() for n in range(2))
    assert first == again


def test_compression_libraries_can_be_omitted(tmp_path):
    full = names_in(bundle(tmp_path / "full.zip"))
    small = names_in(bundle(tmp_path / "small.zip", compression=False))
    assert small < full and all("cramjam" in name for name in full - small)


def write_wheel(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, f"# {name}")
    return path


def test_wheels_take_the_place_of_what_is_installed(tmp_path):
    engine = "kwire/_engine/fast/decoder.cpython-313-aarch64-linux-gnu.so"
    ours = write_wheel(
        tmp_path / "kwire.whl",
        "kwire/__init__.py",
        engine,
        "kwire-9.dist-info/METADATA",
        "kwire-9.dist-info/RECORD",
        "kwire-9.data/scripts/kwire",
        "kwire-9.data/platlib/pyspark_kwire.py",
    )
    other_wheel = write_wheel(tmp_path / "cramjam.whl", "cramjam/__init__.py")
    expected = {"__init__.py", "kwire/__init__.py", engine, "pyspark_kwire.py"}
    expected |= {"kwire-9.dist-info/METADATA"}
    bundle_path = bundle(tmp_path / "one.zip", wheel=ours)
    assert names_in(bundle_path) == expected
    two = bundle(tmp_path / "two.zip", wheel=[ours, str(other_wheel)])
    assert names_in(two) == expected | {"cramjam/__init__.py"}


def test_wheel_without_kwire_is_refused(tmp_path):
    other_wheel = write_wheel(tmp_path / "cramjam.whl", "cramjam/__init__.py")
    with pytest.raises(ValueError, match="no wheel of kwire"):
        bundle(tmp_path / "deps.zip", wheel=other_wheel)
    (tmp_path / "text.whl").write_text("text")
    with pytest.raises(ValueError, match=r"text\.whl is not a wheel"):
        bundle(tmp_path / "deps.zip", wheel=tmp_path / "text.whl")
    with pytest.raises(FileNotFoundError):
        bundle(tmp_path / "deps.zip", wheel=tmp_path / "none.whl")
    with pytest.raises(ValueError, match=r"end with \.zip"):
        bundle(tmp_path / "deps.tar")
    assert not list(tmp_path.glob("deps*"))


def test_an_archive_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "deps.zip"
    path.write_bytes(b"before")

    def full(*_):
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        # Both containers have the process id 7, as containers on a shared disk may
        # have.
        patch.setattr(os, "getpid", lambda: 7)
        beside = tmp_path / "deps.zip.partial-7"
        beside.write_bytes(b"another's")
        patch.setattr(zipfile.ZipFile, "writestr", full)
        with pytest.raises(OSError, match="no space"):
            bundle(path)
    assert path.read_bytes() == b"before" and beside.read_bytes() == b"another's"
    assert sorted(tmp_path.iterdir()) == [path, beside]
    assert bundle(path) == path and zipfile.is_zipfile(path)


def test_bundle_in_the_package_is_the_function():
    assert kwire.spark.bundle is bundle


def test_the_setting_names_the_archive_and_what_it_is_unpacked_as():
    assert setting("/shared/deps.zip") == "/shared/deps.zip#kwire"


def test_command_writes_the_archive_and_prints_the_setting(tmp_path):
    path = tmp_path / "deps.zip"
    done = CliRunner().invoke(program, ["spark-bundle", "--output", str(path)])
    assert done.exit_code == 0, done.output
    assert done.stdout == f"spark.archives={path}#kwire\n"
    assert ": kwire" in done.stderr and "cramjam-" in done.stderr
    assert ("engine for cpython" in done.stderr) == (kwire.backend == "fast")
    for wrong in (
        ["--output", "x.tar"],
        ["--output", str(path), "--wheel", str(path) + "x"],
    ):
        done = CliRunner().invoke(program, ["spark-bundle", *wrong])
        assert done.exit_code == 2 and done.stderr.count("\n") == 1
        assert done.stdout == ""
