# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run one Apache Kafka broker on the loopback interface, using the jars in pom.xml.

This module selects the jars, formats, starts and stops the broker, and runs Kafka's
command line tools. ``write_data.py`` writes the test data.

    python -m tools.interop.broker.broker run --version 4.x

Tests use ``running``:

    with broker.running("4.x") as kafka:
        ...  # kafka.address is "127.0.0.1:port"
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType

HERE = Path(__file__).resolve().parent
TARGET = HERE / "target"
LOOPBACK = "127.0.0.1"
PORTS = 20_000, 30_000
SECONDS_TO_START = 300
SECONDS_TO_STOP = 120
SECONDS_TO_ANSWER = 10
"""Timeouts in seconds. They are long, because a busy machine is many times slower."""

# Only one client uses the broker, so a short startup matters more than throughput.
JAVA = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
# The snappy library of Kafka 0.8.0 and 0.8.1 calls ClassLoader.defineClass. Java
# requires this option to allow the call.
JAVA += ["--add-opens=java.base/java.lang=ALL-UNNAMED"]
LOGGING = [
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    # Otherwise ZooKeeper would load log4j 1 classes, which the replacement libraries do
    # not contain.
    "-Dzookeeper.jmx.log4j.disable=true",
    f"-Dlog4j.configuration=file:{HERE / 'log4j.properties'}",
]

# Internal topics have one replica and one partition, because there is only one broker.
# Groups do not wait for further members, because tests read written data immediately.
SETTINGS = {
    "auto.create.topics.enable": "false",
    "background.threads": "2",
    "group.initial.rebalance.delay.ms": "0",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.retention.ms": "-1",
    "num.io.threads": "2",
    "num.network.threads": "1",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
KRAFT_SETTINGS = {
    "controller.listener.names": "CONTROLLER",
    "node.id": "1",
    "process.roles": "broker,controller",
}
CLUSTER_ID = "a3dpcmUta3dpcmUta3dpcg"
SHARE_GROUP_SETTINGS = {
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
}


class BrokerError(Exception):
    """The broker or one of its requirements is missing or has failed."""


def releases() -> list[str]:
    """List the supported Kafka releases in the order of pom.xml, newest first."""
    names = ElementTree.parse(HERE / "pom.xml").findall("{*}profiles/{*}profile/{*}id")
    return [str(name.text) for name in names]


def find_release(wanted: str) -> str:
    """Return the newest supported release that matches ``wanted``.

    ``wanted`` is a release such as "4.3.1", or the start of a release such as "4.x".
    Raises ``BrokerError`` if no release matches.
    """
    prefix = wanted.removesuffix(".x").split(".")
    for release in releases():
        if release.split(".")[: len(prefix)] == prefix:
            return release
    raise BrokerError(f"no Kafka {wanted} in pom.xml; it names {', '.join(releases())}")


def jars(release: str) -> str:
    """Return the class path of a release. Maven downloads the jars on first use."""
    listing = TARGET / f"classpath-{release}"
    pom = HERE / "pom.xml"
    if not listing.exists() or listing.stat().st_mtime < pom.stat().st_mtime:
        maven = ["mvn", "-q", "-B", "-Dstyle.color=never", "-f", str(pom)]
        output = f"-Dmdep.outputFile={listing}"
        run([*maven, "-P", release, output, "dependency:build-classpath"])
    return listing.read_text().strip()


def java(release: str, main_class: str, *arguments: str) -> list[str]:
    """Return the command that runs a Java class of one release."""
    return [*JAVA, *LOGGING, "-cp", jars(release), main_class, *arguments]


def run(command: list[str], text: str = "") -> str:
    """Run a command with ``text`` as its input. Returns its standard output.

    Raises ``BrokerError`` if the command is missing or fails.
    """
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, encoding="utf-8"
        )
    except FileNotFoundError:
        raise not_installed(command[0]) from None
    if done.returncode:
        said = (done.stderr + done.stdout).splitlines()
        why = next((line for line in said if "ERROR" in line or "xception" in line), "")
        why = why or next(iter(said), "it said nothing")
        raise BrokerError(f"{command[0]} ended with {done.returncode}: {why}")
    return done.stdout


def not_installed(program: str) -> BrokerError:
    """Return the error for a missing program. It names the programs to install."""
    return BrokerError(
        f"{program} is not installed; a broker needs Maven and Java 17 or newer"
    )


def tool(release: str, name: str, *arguments: str, text: str = "") -> str:
    """Run one of Kafka's command line tools with ``text`` as input. Returns its output.

    Raises ``BrokerError`` if the tool fails.
    """
    moved = release.startswith("4.") and name != "StorageTool"
    package = "org.apache.kafka.tools" if moved else "kafka.tools"
    return run(java(release, f"{package}.{name}", *arguments), text)


def free_ports(count: int) -> list[int]:
    """Return free ports of the loopback interface.

    The ports are outside the range from which the system assigns ports. Otherwise the
    system could assign one of them to another program before the broker has started.
    """
    # pytest-randomly seeds the global generator, so checks that run in parallel would
    # select the same ports.
    source = random.SystemRandom()
    ports: list[int] = []
    while len(ports) < count:
        port = source.randrange(*PORTS)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind((LOOPBACK, port))
            ports += [port] * (port not in ports)
    return ports


def answers(port: int, least_brokers: int = 1) -> bool:
    """Return whether the broker at a port reports at least ``least_brokers`` brokers.

    A topic can only be created if there is at least one broker. The request is Metadata
    version 0, which all releases support: request header v1 and an empty array. The
    response starts with its size, the correlation id and the number of brokers.
    """
    asked = struct.pack(">hhihi", 3, 0, 1, 0, 0)
    try:
        with socket.create_connection((LOOPBACK, port), SECONDS_TO_ANSWER) as wire:
            wire.sendall(struct.pack(">i", len(asked)) + asked)
            head = wire.recv(12, socket.MSG_WAITALL)
            if len(head) < 12:
                return False
            return bool(struct.unpack(">iii", head)[2] >= least_brokers)
    except OSError:
        return False


def accepts(port: int) -> bool:
    """Return whether a port of the loopback interface accepts connections."""
    try:
        socket.create_connection((LOOPBACK, port), SECONDS_TO_ANSWER).close()
    except OSError:
        return False
    return True


class Broker:
    """Broker with its own data directory, which a restart of the broker keeps."""

    def __init__(
        self,
        release: str,
        folder: Path,
        settings: Mapping[str, str] | None = None,
        *,
        ports: Sequence[int] | None = None,
        controllers: str | None = None,
    ) -> None:
        """Write the settings and format the storage.

        * ``ports``: the ports of the broker and of its controller. Default: free ports.
        * ``controllers``: initial controllers of the cluster that this node belongs to,
          in the format of the storage tool. Default: a standalone broker.
        """
        self.release = release
        self.folder = folder
        self.data = folder / "data"
        self.has_zookeeper = int(release.split(".")[0]) < 3
        # Brokers before 0.9 have a single address, and its protocol cannot be
        # configured.
        self.has_listeners = not release.startswith("0.8.")
        self.port, self.other_port = ports or free_ports(2)
        self.address = f"{LOOPBACK}:{self.port}"
        self._processes: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._write_settings(settings or {})
        if not self.has_zookeeper:
            self._format(controllers)

    def start(self) -> None:
        """Start the broker, and ZooKeeper if the release needs it.

        Wait until it is ready.

        Raises ``BrokerError`` if a process exits or is not ready in time.
        """
        try:
            if self.has_zookeeper:
                main_class = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
                self._launch("zookeeper", main_class)
                self._wait("zookeeper", self.other_port)
            self.launch()
            self.wait()
        except BaseException:
            self.stop()
            raise

    def launch(self) -> None:
        """Start the broker process without waiting for it."""
        self._launch("server", "kafka.Kafka")

    def wait(self) -> None:
        """Wait until the broker answers requests.

        Raises ``BrokerError`` if it does not.
        """
        self._wait("server", self.port)

    def kill(self) -> None:
        """Kill the processes of the broker immediately to simulate a crash."""
        while self._processes:
            _, process = self._processes.pop()
            process.kill()
            process.wait()

    def stop(self) -> None:
        """Shut down the broker cleanly, so that all of its data is on disk.

        Raises ``BrokerError`` if a process does not stop in time and has to be killed.
        """
        while self._processes:
            name, process = self._processes.pop()
            process.terminate()
            try:
                process.wait(SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise BrokerError(
                    f"the {name} did not stop in {SECONDS_TO_STOP} s and was killed; "
                    f"its log ends with:\n{self._tail(name)}"
                ) from None

    def tool(self, name: str, *arguments: str, text: str = "") -> str:
        """Run one of Kafka's command line tools of the broker's release."""
        return tool(self.release, name, *arguments, text=text)

    def run_class(self, main_class: str, *arguments: str) -> str:
        """Run a Java class of the broker's release, and return its output."""
        return run(java(self.release, main_class, *arguments))

    def _write_settings(self, settings: Mapping[str, str]) -> None:
        merged = {**SETTINGS, "log.dirs": str(self.data)}
        if not self.has_listeners:
            # Kafka 0.8 does not interpret -1 ms as unlimited retention.
            del merged["log.retention.ms"]
        if self.has_zookeeper:
            if self.has_listeners:
                merged["listeners"] = f"PLAINTEXT://{self.address}"
            else:
                merged["host.name"] = LOOPBACK
                merged["port"] = str(self.port)
            merged["zookeeper.connect"] = f"{LOOPBACK}:{self.other_port}"
            merged["broker.id"] = "1"
            self._write_properties(
                "zookeeper",
                {
                    "admin.enableServer": "false",
                    "clientPort": str(self.other_port),
                    "clientPortAddress": LOOPBACK,
                    "dataDir": str(self.folder / "zookeeper"),
                },
            )
        else:
            controller = f"{LOOPBACK}:{self.other_port}"
            merged |= KRAFT_SETTINGS
            merged["listeners"] = (
                f"PLAINTEXT://{self.address},CONTROLLER://{controller}"
            )
            merged["advertised.listeners"] = f"PLAINTEXT://{self.address}"
            merged["controller.quorum.bootstrap.servers"] = controller
            merged["listener.security.protocol.map"] = (
                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"
            )
            if self.release.startswith("4."):
                merged |= SHARE_GROUP_SETTINGS
        self._write_properties("server", {**merged, **settings})

    def _write_properties(self, name: str, properties: Mapping[str, str]) -> None:
        lines = (f"{key}={value}\n" for key, value in properties.items())
        self._properties(name).write_text("".join(lines), encoding="utf-8")

    def _properties(self, name: str) -> Path:
        return self.folder / f"{name}.properties"

    def _format(self, controllers: str | None) -> None:
        """Format the storage of a broker or controller before its first start.

        A cluster id consists of any 16 bytes in base64.
        """
        quorum = ["--initial-controllers", controllers] if controllers else []
        what = ["format", *(quorum or ["--standalone"]), "--cluster-id", CLUSTER_ID]
        self.tool("StorageTool", *what, "-c", str(self._properties("server")))

    def _launch(self, name: str, main_class: str) -> None:
        command = java(self.release, main_class, str(self._properties(name)))
        with (self.folder / f"{name}.log").open("ab") as log:
            # Start the process in its own session. Otherwise Ctrl-C in the terminal
            # would interrupt the broker as well as this program.
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    start_new_session=True,
                )
            except FileNotFoundError:
                raise not_installed(command[0]) from None
        self._processes.append((name, process))

    def _wait(self, name: str, port: int) -> None:
        process = self._processes[-1][1]
        # Brokers before 0.9 report no brokers in Metadata while there are no topics.
        least = int(self.has_listeners)
        ready = partial(answers, least_brokers=least) if name == "server" else accepts
        deadline = time.monotonic() + SECONDS_TO_START
        while not ready(port):
            if process.poll() is not None:
                reason = f"ended with {process.returncode} before it answered"
            elif time.monotonic() > deadline:
                reason = f"did not answer on port {port} in {SECONDS_TO_START} s"
            else:
                time.sleep(0.1)
                continue
            raise BrokerError(
                f"the {name} of Kafka {self.release} {reason}; "
                f"its log ends with:\n{self._tail(name)}"
            )

    def _tail(self, name: str) -> str:
        log = (self.folder / f"{name}.log").read_text(
            encoding="utf-8", errors="replace"
        )
        return "\n".join(log.splitlines()[-15:]) or "(nothing)"


@contextlib.contextmanager
def running(
    version: str = "4.x",
    folder: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Broker]:
    """Run a broker during a ``with`` block.

    * ``version``: release such as "4.3.1", or the newest release of a line such as
      "4.x".
    * ``folder``: directory for the data, which is kept. By default, the data is deleted
      at the end.
    * ``settings``: broker properties that override the defaults.
    """
    release = find_release(version)
    with contextlib.ExitStack() as stack:
        if folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="kwire-broker-")
            folder = Path(stack.enter_context(temporary))
        broker = Broker(release, folder, settings)
        stack.callback(broker.stop)
        broker.start()
        yield broker


def interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Convert SIGTERM into ``KeyboardInterrupt``, so that it behaves like Ctrl-C."""
    raise KeyboardInterrupt


def run_until_interrupted(version: str, folder: Path | None) -> None:
    """Run a broker until Ctrl-C or SIGTERM stops it."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        with running(version, folder) as broker:
            print(f"Kafka {broker.release} answers on {broker.address}")
            print(f"data: {broker.data}; Ctrl-C stops it", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        print("stopped")


def main() -> None:
    """Run the ``run`` or ``versions`` command.

    Exits with a message if the broker fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("run", help="run a broker until Ctrl-C")
    command.add_argument("--version", default="4.x", help="such as 4.x or 3.9.2")
    command.add_argument("--folder", type=Path, help="an empty folder to keep it in")
    commands.add_parser("versions", help="name the releases that can be run")
    arguments = parser.parse_args()
    try:
        if arguments.command == "versions":
            print("\n".join(releases()))
        else:
            run_until_interrupted(arguments.version, arguments.folder)
    except BrokerError as error:
        sys.exit(f"broker: {error}")


if __name__ == "__main__":
    main()
