# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A recording relay between Kafka clients and a cluster, one listener per broker.

It passes every frame on and keeps a copy, with its connection, direction and order.
Three kinds of answers are changed on the way, with kwire: the broker addresses in
Metadata and FindCoordinator answers become the relay's own, so that Produce and Fetch
pass here too, and the ApiVersions answer offers Metadata up to version 8 only. No
checking happens here (see ``round_trip.py``). Loopback only.
"""

import asyncio
import functools
import itertools
import struct
import threading
from collections.abc import Callable, Iterable

from kwire import framing, wire
from kwire.messages import (
    ApiVersionsResponse,
    FindCoordinatorResponse,
    MetadataResponse,
)

from . import round_trip
from .recording import Recorded

# librdkafka's mock writes a stray byte per topic in Metadata answers from version 9 on.
METADATA_MAX_VERSION = 8

frame_size = struct.Struct(">i")
Address = tuple[str, int]


class Relay:
    """Listens on one loopback port per broker and records what passes."""

    def __init__(self, brokers: Iterable[Address]) -> None:
        """Prepare a relay in front of the ``brokers``; ``with`` starts and ends it."""
        self._brokers = list(brokers)
        self._connections = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)
        self._ready = threading.Event()
        self._open: set[asyncio.StreamWriter] = set()
        self._stop = asyncio.Event()
        self.addresses: dict[Address, Address] = {}
        self.frames: list[Recorded] = []
        self.failure: BaseException | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The relay's listeners, as Kafka clients want them."""
        return ",".join(f"{host}:{port}" for host, port in self.addresses.values())

    def __enter__(self) -> "Relay":
        """Start listening."""
        self._thread.start()
        self._ready.wait()
        self.raise_failure()
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the listeners and every connection; raise what broke the relay."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()
        self.raise_failure()

    def raise_failure(self) -> None:
        """Raise what broke the relay, if anything did."""
        if self.failure:
            raise self.failure

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._listen())
        except BaseException as failure:
            self.failure = failure
        finally:
            self._ready.set()

    async def _listen(self) -> None:
        servers = []
        for broker in self._brokers:
            serve = functools.partial(self._serve, broker)
            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            servers.append(server)
            self.addresses[broker] = server.sockets[0].getsockname()
        self._ready.set()
        await self._stop.wait()
        for closable in (*servers, *self._open):
            closable.close()
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    async def _serve(
        self,
        broker: Address,
        client_reader: asyncio.StreamReader,
        client_writer: asyncio.StreamWriter,
    ) -> None:
        broker_reader, broker_writer = await asyncio.open_connection(*broker)
        writers = client_writer, broker_writer
        self._open.update(writers)
        connection = Connection(next(self._connections), self)
        try:
            await asyncio.gather(
                pump(client_reader, broker_writer, connection.request),
                pump(broker_reader, client_writer, connection.response),
            )
        except ConnectionError:
            pass  # one side went away: as good as a close
        except Exception as failure:
            self.failure = self.failure or failure
        finally:
            for writer in writers:
                writer.close()
            self._open.difference_update(writers)


async def pump(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    passing: Callable[[bytes], bytes],
) -> None:
    """Carry frames one way until that side closes, then close the other side."""
    splitter = framing.FrameSplitter()
    while chunk := await reader.read(65536):
        for frame in splitter.feed(chunk):
            passed = passing(frame)
            writer.write(frame_size.pack(len(passed)) + passed)
        await writer.drain()
    writer.close()


class Connection:
    """One client connection: pairs responses with requests, records and rewrites."""

    def __init__(self, number: int, relay: Relay) -> None:
        """Take a ``number`` of its own; frames go into ``relay.frames``."""
        self._number = number
        self._relay = relay
        self._unanswered: dict[int, tuple[int, int, str | None]] = {}

    def request(self, frame: bytes) -> bytes:
        """Record a request and note what its answer will be."""
        api_key, api_version, correlation_id = struct.unpack_from(">hhi", frame)
        client_id, _ = wire.decode_nullable_string(frame, 8)
        self._unanswered[correlation_id] = api_key, api_version, client_id
        self._record("request", (api_key, api_version, client_id), frame)
        return frame

    def response(self, frame: bytes) -> bytes:
        """Record an answer and return what the client is to see."""
        (correlation_id,) = struct.unpack_from(">i", frame)
        recorded = self._record("response", self._unanswered.pop(correlation_id), frame)
        passed = rewritten(recorded, self._relay.addresses)
        self._relay.frames[recorded.sequence] = recorded._replace(passed=passed)
        return passed

    def _record(self, direction: str, request: tuple, frame: bytes) -> Recorded:
        frames = self._relay.frames
        frames.append(
            Recorded(self._number, direction, len(frames), *request, frame, frame)
        )
        return frames[-1]


def rewritten(recorded: Recorded, addresses: dict[Address, Address]) -> bytes:
    """Return an answer as the client is to see it.

    ``addresses`` maps each broker's address to that of the relay's listener for it.
    """
    change = CHANGES.get(recorded.api_key)
    if change is None or round_trip.is_odd(recorded):
        return recorded.sent
    correlation_id, response = round_trip.decode(recorded, recorded.sent)
    return round_trip.encode(recorded, correlation_id, change(response, addresses))


def limit_metadata(response, addresses):
    """Lower the highest Metadata version on offer."""
    return response.replace(
        api_keys=[
            api.replace(max_version=min(api.max_version, METADATA_MAX_VERSION))
            if api.api_key == MetadataResponse.api_key
            else api
            for api in response.api_keys
        ]
    )


def redirect_brokers(response, addresses):
    """Put the relay's listeners in the place of the brokers."""
    return response.replace(
        brokers=[redirected(broker, addresses) for broker in response.brokers]
    )


def redirect_coordinator(response, addresses):
    """Put the relay's listener in the place of the coordinator, if one was found."""
    return redirected(response, addresses) if response.port > 0 else response


def redirected(node, addresses):
    """Return ``node``, a message or struct with host and port, at its listener."""
    host, port = addresses[node.host, node.port]
    return node.replace(host=host, port=port)


CHANGES = {
    ApiVersionsResponse.api_key: limit_metadata,
    MetadataResponse.api_key: redirect_brokers,
    FindCoordinatorResponse.api_key: redirect_coordinator,
}
