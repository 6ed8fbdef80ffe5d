# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run tests on other processors and Pythons, and document the results in a table.

The generated C code of the engine is compiled for every platform. If the processor is
different, Debian's cross compilers are used. The tests in ``LANE`` run with both
engines. If a platform does not support the compiled engine, the tests in ``PURE_LANE``
run instead. ``--whole`` runs the tests of ``make quick``. ``--record`` updates the rows
of the tested platforms in docs/project/platforms.md, and preserves all other rows. Logs
and unpacked files are stored in build/platforms.

The program installs packages with apt and changes its root directory. It therefore
requires root permissions on Debian 12.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools import ROOT
from tools.platforms import sources, wasm, windows
from tools.platforms.roots import (
    WORK,
    Debian,
    install_missing,
    launch,
    make_root,
    run,
    write_site,
)
from tools.prove import engine_copy
from tools.release.pythons import pythons

PAGE = ROOT / "docs" / "project" / "platforms.md"
# Libraries that some tests can do without. They are omitted on platforms that have no
# wheel for them.
OPTIONAL = ("numpy", "cramjam", "zstandard", "isal", "pyarrow", "markupsafe", "jinja2")
LANE_LIBRARIES = ("numpy", "cramjam", "zstandard")
# Pure Python libraries, which are installed once for all platforms.
PLAIN = ("pytest", "pytest-xdist", "hypothesis", "click", "rich")
MANYLINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
MUSLLINUX = ("musllinux_1_2", "musllinux_1_1")
UNMARKED = ("-m", "not gate and not slow")
LANE = (
    "tests/messages/test_wire.py",
    "tests/engine/test_varint_readers.py",
    "tests/records/test_formats.py",
    "tests/records/test_column_bytes.py",
)
# Test files that do not need cramjam, for platforms that have no cramjam wheel.
PLAIN_LANE = (
    "tests/messages/test_wire.py",
    "tests/engine/test_varint_readers.py",
    "tests/records/test_column_bytes.py",
    "tests/safety/test_threads.py",
)
# Test files that need no library except for pytest, for Pythons without wheels.
PURE_LANE = (
    "tests/messages/test_vectors.py",
    "tests/messages/test_framing.py",
    "tests/messages/test_frame_splitter.py",
    "tests/engine/test_encoder_edges.py",
)
COUNTS = re.compile(r"(\d+) (passed|failed|skipped|errors?)")


class Platform(NamedTuple):
    """Target platform, which is a row of the table.

    * ``words``: description of the platform in the table.
    * ``python``: Python implementation and version in the table.
    * ``debian``: root directory that contains the Python, or None.
    * ``wheels``: processor name in the tags of wheels.
    * ``model``: processor model that qemu emulates, or "".
    """

    name: str
    words: str
    python: str
    debian: Debian | None = None
    wheels: str = "x86_64"
    model: str = ""

    @property
    def is_pure(self) -> bool:
        """Whether the platform only runs the Python engine."""
        return self.name in ("pypy3.11", "wasm")

    @property
    def version(self) -> str:
        """Version of the Python, for example "3.13t".

        A "t" means a free-threaded build.
        """
        if self.name == "windows":
            return windows.VERSION
        name = self.debian.python if self.debian else self.name
        return name.removeprefix("python").partition("-")[0]

    @property
    def is_musl(self) -> bool:
        """Whether the C library of the platform is musl."""
        return self.name.endswith("-musl")

    @property
    def is_emulated(self) -> bool:
        """Whether qemu runs the tests."""
        return bool(self.model or (self.debian and self.debian.emulator))


def debian(
    arch: str, triplet: str, wheels: str, words: str, emulator: str = ""
) -> Platform:
    """Return the platform of a Debian architecture, with the Python of its suite."""
    # The suite bookworm does not support RISC-V.
    suite, version = ("bookworm", "3.11") if arch != "riscv64" else ("forky", "3.14")
    root = Debian(suite, arch, triplet, f"python{version}", True, emulator)
    return Platform(arch, f"{arch}: {words}", f"CPython {version}", root, wheels)


def newer(name: str, words: str) -> Platform:
    """Return the platform of another Python that Debian packages for this processor."""
    root = Debian("sid", "amd64", "x86_64-linux-gnu", name, False)
    return Platform(name, "amd64", words, root)


# Processor models that qemu emulates, with the processor features that the checksum
# code must detect.
CLMUL = "sse4_2 pclmulqdq"
MODELS = {"qemu64": "", "Nehalem": "sse4_2", "Westmere": CLMUL, "Haswell": CLMUL}
# Platforms that are tested before each change. The first run takes five minutes, and
# further runs take 90 seconds.
SHORT = ("i386", "arm64", "s390x", *(f"cpu-{model}" for model in MODELS))
PLATFORMS = (
    debian("i386", "i386-linux-gnu", "i686", "32 bits"),
    debian("armhf", "arm-linux-gnueabihf", "armv7l", "32 bits", "qemu-arm"),
    debian("arm64", "aarch64-linux-gnu", "aarch64", "64 bits", "qemu-aarch64"),
    debian("ppc64el", "powerpc64le-linux-gnu", "ppc64le", "64 bits", "qemu-ppc64le"),
    debian("riscv64", "riscv64-linux-gnu", "riscv64", "64 bits", "qemu-riscv64"),
    debian("s390x", "s390x-linux-gnu", "s390x", "64 bits, big-endian", "qemu-s390x"),
    Platform("python3.12", "amd64", "CPython 3.12"),
    newer("python3.13", "CPython 3.13"),
    newer("python3.14", "CPython 3.14"),
    newer("python3.15", "CPython 3.15"),
    newer("pypy3.11", "PyPy 8.0 (3.11)"),
    Platform("python3.13-musl", "amd64: musl", "CPython 3.13"),
    Platform("python3.13t", "amd64", "CPython 3.13, free-threaded"),
    Platform("wasm", "wasm32", "Pyodide (CPython 3.14)"),
    Platform("windows", "amd64: Windows", f"CPython {windows.VERSION}"),
    *(
        Platform(f"cpu-{model}", f"amd64: {model}", "CPython 3.11", model=model)
        for model in MODELS
    ),
)


class Result(NamedTuple):
    """Test results of one platform: numbers of tests, and duration in seconds.

    ``tests`` names the selection of tests.
    """

    platform: Platform
    tests: str
    passed: int
    failed: int
    skipped: int
    seconds: float

    def row(self) -> str:
        """Row of the table in Markdown, with today's date."""
        one = self.platform
        by = "this processor"
        if one.model:
            by = "qemu-x86_64"
        elif one.name == "wasm":
            by = "Node.js"
        elif one.name == "windows":
            by = "wine"
        elif one.debian and one.debian.emulator:
            by = one.debian.emulator
        engines = "pure" if one.is_pure else "both"
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        return (
            f"| {one.words} | {one.python} | {engines} | {by} | {self.tests} | "
            f"{self.passed:,} | {self.failed} | {self.skipped} | {today} |"
        )


def install_plain() -> Path:
    """Install the pure Python libraries if missing. Returns their directory."""
    folder = WORK / "wheels" / "plain"
    tags = ("--platform=any", "--python-version=3.11")
    if not folder.exists() and not install(folder, *tags, *PLAIN):
        sys.exit(f"the registry has not all of {', '.join(PLAIN)}")
    return folder


def install(place: Path, *arguments: str) -> bool:
    """Install wheels into the directory ``place``.

    Returns False if a wheel is not available. Exits with a message if the network
    fails.
    """
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:"]
    done = subprocess.run(
        [*pip, f"--target={place}", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    # A network error does not prove that the wheel is missing. Exit instead of omitting
    # the library.
    if done.returncode and "after connection broken" in done.stderr:
        sys.exit(done.stderr)
    return not done.returncode


def install_wheels(one: Platform, whole: bool) -> tuple[Path, list[str]]:
    """Install the available library wheels of a platform if they are missing.

    Returns the directory and the names of unavailable libraries.
    """
    names = list(OPTIONAL if whole else LANE_LIBRARIES)
    folder = WORK / "wheels" / f"{one.name}{'-whole' if whole else ''}"
    if one.debian and one.debian.numpy:
        names.remove("numpy")
    if one.is_pure:
        return folder, names
    kinds = MUSLLINUX if one.is_musl else MANYLINUX
    tags = [f"--platform={tag}_{one.wheels}" for tag in kinds]
    if one.name == "windows":
        tags = ["--platform=win_amd64"]
        names = [windows.NUMPY if name == "numpy" else name for name in names]
    tags += ["--no-deps", "--python-version=" + one.version.rstrip("t")]
    if one.version.endswith("t"):
        tags += [f"--abi=cp{one.version.replace('.', '')}", "--abi=none"]
    note = folder / "missing"
    if not note.exists():
        folder.mkdir(parents=True, exist_ok=True)
        missing = []
        if not install(folder, *tags, *names):
            missing = [name for name in names if not install(folder, *tags, name)]
        # jinja2 requires markupsafe, so it is unusable as well.
        unusable = ["jinja2" if name == "markupsafe" else name for name in missing]
        note.write_text("\n".join(unusable))
    return folder, note.read_text().split()


def copy_tree(name: str) -> Path:
    """Copy the files of the tree for one platform. Returns the new directory."""
    tree = WORK / "trees" / name
    shutil.rmtree(tree, ignore_errors=True)
    engine_copy.copy_tree(tree)
    return tree


def compile_engine(
    tree: Path,
    compiler: str,
    headers: list[Path],
    *more: str,
    libraries: tuple[str, ...] = (),
    suffix: str = ".so",
) -> None:
    """Compile the generated C code of the engine into the tree.

    * ``headers``: directories with C headers. Python's directory is the first.
    * ``more``: further compiler options.
    * ``libraries``: linker options.
    * ``suffix``: file name extension. Without a tag, every CPython loads the modules.
    """
    engine = Path("src/kwire/_engine/fast")
    built = WORK / "engines" / tree.name
    built.mkdir(parents=True, exist_ok=True)
    options = ["-shared", "-fPIC", "-O1", "-DNDEBUG", "-fno-strict-aliasing", "-fwrapv"]
    options += ["-fvisibility=hidden", "-I", str(headers[0]), "-I", str(ROOT / engine)]
    options += more
    for folder in headers[1:]:
        options += ["-idirafter", str(folder)]

    def compile_one(source: Path) -> None:
        module = built / f"{source.stem}{suffix}"
        if not module.exists() or module.stat().st_mtime < source.stat().st_mtime:
            run(compiler, *options, source, *libraries, "-o", module)
        shutil.copy2(module, tree / engine)

    sources = sorted((ROOT / "build/cython" / engine).glob("*.c"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, sources))


class Start(NamedTuple):
    """Command that starts pytest on a platform.

    * ``directory``: working directory.
    * ``environment``: environment variables to add.
    * ``missing``: libraries that are not available on the platform.
    """

    command: list[str]
    directory: Path
    environment: dict[str, str]
    missing: list[str]


def prepare_model(one: Platform) -> Start:
    """Return the start of pytest on this machine's Python with an older processor.

    qemu emulates the processor model.
    """
    install_missing({"qemu-x86_64": "qemu-user"})
    python = os.path.realpath(sys.executable)
    paths = [ROOT / "src", sysconfig.get_path("purelib")]
    environment = {
        "KWIRE_CPU_FLAGS": MODELS[one.model],
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }
    command = ["qemu-x86_64", "-cpu", one.model, python, "-m", "pytest"]
    # pytest-randomly imports numpy. numpy's wheels need processor features that the
    # oldest model lacks.
    command += ["-p", "no:randomly"]
    return Start(command, ROOT, environment, [])


def prepare_own(one: Platform) -> Path | None:
    """Return the path of a CPython of this machine, or build it from source.

    Returns None if it is not available.
    """
    name = one.name.removeprefix("python")
    if name in sources.BUILDS:
        return sources.build(name)
    paths = [each.path for each in pythons() if each.version.startswith(name + ".")]
    return paths[0] if paths else None


def prepare_root(one: Platform, root: Debian, tree: Path) -> Path:
    """Unpack a Debian root, and compile the engine for it.

    Returns the launcher of its Python.
    """
    compiler = "gcc"
    tools = {"mmdebstrap": "mmdebstrap"}
    if root.arch != "amd64":
        name = root.triplet.replace("i386", "i686")
        compiler = f"{name}-gcc"
        tools[compiler] = f"gcc-{name} libc6-dev-{root.arch}-cross"
    if root.emulator:
        tools[root.emulator] = "qemu-user"
    install_missing(tools)
    make_root(root)
    if not one.is_pure:
        compile_engine(tree, compiler, root.headers())
    return launch(root)


def prepare(one: Platform, whole: bool) -> Start | None:
    """Prepare the Python, the libraries and the engine of a platform.

    Returns None if this machine does not have the required Python.
    """
    if one.model:
        return prepare_model(one)
    plain = install_plain()
    tree = copy_tree(one.name)
    if one.name == "wasm":
        return Start(wasm.prepare(tree, plain), tree, {}, list(OPTIONAL))
    if one.debian:
        python = prepare_root(one, one.debian, tree)
    elif one.name == "windows":
        python = windows.prepare()
        compile_engine(
            tree,
            windows.COMPILER,
            [windows.HEADERS],
            *windows.DEFINED,
            libraries=windows.LIBRARIES,
            suffix=".pyd",
        )
    else:
        own_python = prepare_own(one)
        if own_python is None:
            return None
        python = own_python
        # ``sources`` has created the compiler script in the directory above bin/python.
        compiler = str(python.parents[1] / "musl-gcc") if one.is_musl else "gcc"
        compile_engine(tree, compiler, [find_headers(python)])
    wheels, missing = install_wheels(one, whole)
    paths = [tree / "src", wheels, plain]
    environment = {"OPENBLAS_NUM_THREADS": "1"}
    if one.is_emulated:
        paths.append(write_site())
        environment["KWIRE_PLATFORM_PYTHON"] = str(python)
    if not one.is_pure:
        environment["KWIRE_BACKEND"] = "fast"
    joined = os.pathsep.join(map(str, paths))
    environment["PYTHONPATH"] = (
        windows.join_paths(paths) if one.name == "windows" else joined
    )
    return Start([str(python), "-m", "pytest"], tree, environment, missing)


def find_headers(python: Path) -> Path:
    """Return the directory with the C headers of a Python."""
    code = "import sysconfig; print(sysconfig.get_path('include'))"
    output = subprocess.check_output([str(python), "-c", code], text=True)
    return Path(output.strip())


def test(one: Platform, whole: bool) -> Result | None:
    """Prepare a platform and run its tests.

    Returns None if this machine does not have the required Python.
    """
    begin = time.monotonic()
    start = prepare(one, whole)
    if start is None:
        print(f"{one.name}: left out, as this machine has none")
        return None
    words, tests = choose_tests(one, whole, start.missing)
    log = WORK / f"log-{one.name}.txt"
    with log.open("w") as out:
        done = subprocess.run(
            [*start.command, "-q", "-p", "no:cacheprovider", *UNMARKED, *tests],
            cwd=start.directory,
            env=os.environ | start.environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            check=False,
        )
    passed, failed, skipped = count(log, done.returncode)
    seconds = time.monotonic() - begin
    return Result(one, words, passed, failed, skipped, seconds)


def choose_tests(
    one: Platform, whole: bool, missing: list[str]
) -> tuple[str, list[str]]:
    """Select the tests for a platform.

    Returns the name of the selection for the table, and pytest's arguments.
    """
    if one.model:
        return "checksums", ["tests/engine/test_checksums.py"]
    if whole:
        return "`make quick`", ["--quick", f"--without={','.join(missing)}"]
    if one.is_pure:
        return "vectors", list(PURE_LANE)
    if "cramjam" in missing:
        return "threads", list(PLAIN_LANE)
    return "widths", list(LANE)


def count(log: Path, code: int) -> tuple[int, int, int]:
    """Parse pytest's log. Returns the numbers of passed, failed and skipped tests.

    ``code`` is pytest's exit code. The last lines are printed if a test has failed.
    """
    text = log.read_text()
    last = next((line for line in text.splitlines()[::-1] if COUNTS.search(line)), "")
    counts = {what.rstrip("s"): int(number) for number, what in COUNTS.findall(last)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    # A run that ended early counts as one failed test.
    failed = failed or int(code != 0 or not counts)
    if failed:
        print(text[-3000:])
    return counts.get("passed", 0), failed, counts.get("skipped", 0)


def write_rows(results: list[Result]) -> None:
    """Update the rows of tested platforms in the page, and preserve all other rows."""
    names = "processor|Python|engines|run by|tests|passed|failed|skipped|date"
    title = f"| {names.replace('|', ' | ')} |"
    head, mark, rest = PAGE.read_text().partition("<!-- table -->\n")
    table, mark_end, tail = rest.partition("<!-- end -->")
    key = re.compile(r"\| (.*?) \| (.*?) \|")
    rows = {
        found.groups(): found.string
        for found in map(key.match, table.split("\n"))
        if found
    }
    rows |= {(one.platform.words, one.platform.python): one.row() for one in results}
    ordered = [
        rows[name] for one in PLATFORMS if (name := (one.words, one.python)) in rows
    ]
    lines = [title, "|---" * 9 + "|", *ordered]
    PAGE.write_text(head + mark + "\n".join(lines) + "\n" + mark_end + tail)


def check_machine() -> None:
    """Exit unless this program runs as root on Debian."""
    system = platform.freedesktop_os_release()
    if os.geteuid() != 0 or system["ID"] != "debian":
        sys.exit(
            "testing on platforms: this requires root on Debian (got user "
            f"{os.geteuid()} on {system['PRETTY_NAME']})"
        )


def main() -> int:
    """Test the platforms that the command line selects, by default all of them.

    Returns the exit code: 1 if a test fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [one.name for one in PLATFORMS]
    parser.add_argument("name", nargs="*", help=f"one of {', '.join(names)}; or all")
    parser.add_argument("--whole", action="store_true", help="the tests of make quick")
    parser.add_argument(
        "--short",
        action="store_true",
        help=f"{', '.join(SHORT)}: each has to run, and to skip no test",
    )
    parser.add_argument("--record", action="store_true", help="write the table")
    asked = parser.parse_args()
    if unknown := set(asked.name) - set(names):
        parser.error(f"unknown: {', '.join(unknown)}")
    selected = [*asked.name, *(SHORT if asked.short else ())] or names
    check_machine()
    WORK.mkdir(parents=True, exist_ok=True)
    results = []
    for one in PLATFORMS:
        if one.name not in selected:
            continue
        result = test(one, asked.whole)
        if result is None:
            continue
        results.append(result)
        print(
            f"{one.name}: {result.passed} passed, {result.failed} failed, "
            f"{result.skipped} skipped in {result.seconds:.0f} s",
            flush=True,
        )
        if asked.record:
            write_rows([result])
    skipped = asked.short and any(one.skipped for one in results)
    failed = any(one.failed for one in results)
    return 1 if failed or skipped or not results else 0


if __name__ == "__main__":
    sys.exit(main())
