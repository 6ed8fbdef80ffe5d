# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Broker based on ``ServerConnection``, for clients of other projects.

It supports the versions of a Kafka release for the APIs below, and stores records in
memory. Topics are created when they are requested and have one partition, and groups
have one member. It listens on the loopback interface, uses one thread per connection,
and every wait has a timeout. The broker only accesses fields of messages, because
``ServerConnection`` implements versions, headers and the order of responses.
"""

from __future__ import annotations

import importlib
import itertools
import socket
import threading
from collections import Counter
from contextlib import suppress
from uuid import UUID, uuid4

TIMEOUT_S = 15
LONGEST_WAIT_S = 0.1
NODE = 1
END, START = -1, -2
FIRST_WITH_MEMBER_ID_REQUIRED = 4


class Broker:
    """One broker. ``with`` runs it, and raises the first error from its threads.

    * ``users``: passwords by name. If set, clients must authenticate with SASL PLAIN.
    * ``events``: events from all connections.
    * ``asked``: request counts by name and version.
    * ``tokens``: SASL token counts by format: "raw" or "request".
    """

    def __init__(self, kwire, release, users=None):
        """Support the versions in ``release``, with one engine's ``kwire``."""
        self.events = []
        self.asked = Counter()
        self.tokens = Counter()
        self.failures: list[Exception] = []
        self.kwire = kwire
        self._connection = importlib.import_module(f"{kwire.__name__}.connection")
        self._users = users
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._server]
        self._threads: list[threading.Thread] = []
        self.table = offered(kwire, release)
        self.cluster = Cluster(kwire, *self._server.getsockname())

    @property
    def address(self):
        """Advertised address as "host:port"."""
        host, port = self._server.getsockname()
        return f"{host}:{port}"

    @property
    def place(self):
        """Advertised address as (host, port)."""
        return self._server.getsockname()

    def hang_up(self):
        """Close all current connections. New connections are still accepted."""
        for connection in self._open[1:]:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def events_of(self, name):
        """Return the events of all connections that have a class name, oldest first."""
        kind = getattr(self._connection, name)
        return [event for event in self.events if isinstance(event, kind)]

    def __enter__(self):
        """Start listening."""
        self._start(self._accept)
        return self

    def __exit__(self, kind, exception, traceback):
        """Close all connections and wait for all threads."""
        for open_socket in self._open:
            with suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)
            open_socket.close()
        for thread in self._threads:
            thread.join(TIMEOUT_S)
        assert not any(thread.is_alive() for thread in self._threads)
        assert all(open_socket.fileno() == -1 for open_socket in self._open)
        if exception is None and self.failures:
            raise self.failures[0]

    def _start(self, target, *arguments):
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        # Closing the listener makes ``accept`` raise OSError.
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                client.settimeout(TIMEOUT_S)
                self._open.append(client)
                self._start(self._serve, client)

    def _serve(self, client):
        server = self._connection.ServerConnection(self.table)
        signed_in = not self._users
        try:
            while not server.wants_close:
                for event in server.receive_data(client.recv(1 << 16)):
                    self.events.append(event)
                    signed_in = self._react(server, event, signed_in)
                    client.sendall(server.data_to_send())
        except OSError:
            pass  # The client or the test has closed the connection.
        except Exception as failure:
            self.failures.append(failure)
        finally:
            client.close()

    def _react(self, server, event, signed_in):
        """Respond to an event.

        Return whether the client is authenticated afterwards.
        """
        kind = type(event).__name__
        if kind == "SaslToken":
            self.tokens["raw"] += 1
            signed_in = self._is_known(event.data)
            if signed_in:
                server.send_sasl_token(b"")
                server.finish_sasl()
            else:
                server.close()
        elif kind == "RequestReceived":
            request = event.request
            name = type(request).__name__.removesuffix("Request")
            self.asked[name, event.version] += 1
            if name == "SaslHandshake":
                server.send(event, self._handshake(request))
            elif name == "SaslAuthenticate":
                self.tokens["request"] += 1
                signed_in = self._is_known(request.auth_bytes)
                server.send(event, self._authenticated(signed_in))
            elif signed_in:
                answer = ANSWERS[name](self.cluster, request, event.version)
                if event.expects_response:
                    server.send(event, answer)
            else:
                server.close()
        return signed_in

    def _is_known(self, token):
        _, user, password = bytes(token).decode().split("\0")
        return self._users.get(user) == password

    def _handshake(self, request):
        codes = self.kwire.error_codes
        is_supported = self._users and request.mechanism == "PLAIN"
        return self.kwire.messages.SaslHandshakeResponse(
            error_code=codes.NONE if is_supported else codes.UNSUPPORTED_SASL_MECHANISM,
            mechanisms=["PLAIN"],
        )

    def _authenticated(self, signed_in):
        answer = self.kwire.messages.SaslAuthenticateResponse
        if signed_in:
            return answer(error_message=None)
        return answer(
            error_code=self.kwire.error_codes.SASL_AUTHENTICATION_FAILED,
            error_message="no such user, or another password",
        )


class Cluster:
    """State of the broker, and a method for each request that it responds to."""

    def __init__(self, kwire, host, port):
        """Store the address of the only broker."""
        self._kwire = kwire
        self._messages = kwire.messages
        self._place = {"node_id": NODE, "host": host, "port": port}
        self._arrived = threading.Condition()
        self._ids: dict[str, UUID] = {}
        self._names: dict[UUID, str] = {}
        self._logs: dict[str, list[tuple[int, int, bytes]]] = {}
        self._groups: dict[str, Group] = {}
        self._numbers = itertools.count(1000)

    def metadata(self, request, version):
        """Return the broker and the requested topics. Missing topics are created."""
        answer = self._messages.MetadataResponse
        requested = request.topics
        if requested is None or (version == 0 and not requested):
            names = list(self._ids)
        else:
            names = [self._name(topic.name, topic.topic_id) for topic in requested]
        partition = answer.MetadataResponsePartition(
            leader_id=NODE, leader_epoch=0, replica_nodes=[NODE], isr_nodes=[NODE]
        )
        return answer(
            brokers=[answer.MetadataResponseBroker(**self._place)],
            cluster_id="kwire",
            controller_id=NODE,
            topics=[
                answer.MetadataResponseTopic(
                    name=name, topic_id=self._ids[name], partitions=[partition]
                )
                for name in names
            ],
        )

    def produce(self, request, version):
        """Append batches to the logs, and return the offset of each batch."""
        answer = self._messages.ProduceResponse
        topics = []
        with self._arrived:
            for topic in request.topic_data:
                name = self._name(topic.name, topic.topic_id)
                parts = [
                    answer.PartitionProduceResponse(
                        base_offset=self._append(name, part.records)
                    )
                    for part in topic.partition_data
                ]
                topics.append(
                    answer.TopicProduceResponse(
                        name=name, topic_id=topic.topic_id, partition_responses=parts
                    )
                )
            self._arrived.notify_all()
        return answer(responses=topics)

    def fetch(self, request, version):
        """Return the stored batches from each requested offset on.

        If there is no data, wait up to ``LONGEST_WAIT_S`` for it.
        """
        answer = self._messages.FetchResponse
        requested = [
            (topic, self._name(topic.topic, topic.topic_id)) for topic in request.topics
        ]

        def has_more():
            return any(
                part.fetch_offset < self._end(name)
                for topic, name in requested
                for part in topic.partitions
            )

        with self._arrived:
            wait_s = min(request.max_wait_ms / 1000, LONGEST_WAIT_S)
            self._arrived.wait_for(has_more, wait_s)
            return answer(
                responses=[
                    answer.FetchableTopicResponse(
                        topic=name,
                        topic_id=topic.topic_id,
                        partitions=[
                            self._fetched(name, part) for part in topic.partitions
                        ],
                    )
                    for topic, name in requested
                ]
            )

    def list_offsets(self, request, version):
        """Return the first or the last offset of each partition.

        Lookups by another timestamp find no offset (-1).
        """
        answer = self._messages.ListOffsetsResponse

        def found(name, part):
            offset = {START: 0, END: self._end(name)}.get(part.timestamp, END)
            if version == 0:
                return answer.ListOffsetsPartitionResponse(old_style_offsets=[offset])
            return answer.ListOffsetsPartitionResponse(
                offset=offset, leader_epoch=0 if version >= 4 else -1
            )

        return answer(
            topics=[
                answer.ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[found(topic.name, part) for part in topic.partitions],
                )
                for topic in request.topics
            ]
        )

    def init_producer_id(self, request, version):
        """Return a new producer id for an idempotent producer."""
        return self._messages.InitProducerIdResponse(producer_id=next(self._numbers))

    def find_coordinator(self, request, version):
        """Return the only broker as the coordinator of all groups."""
        answer = self._messages.FindCoordinatorResponse
        if not request.coordinator_keys:
            return answer(**self._place)
        return answer(
            coordinators=[
                answer.Coordinator(key=key, **self._place)
                for key in request.coordinator_keys
            ]
        )

    def join_group(self, request, version):
        """Add the client to its group as the leader and only member.

        Newer clients must send the request again with the assigned member id.
        """
        answer = self._messages.JoinGroupResponse
        group = self._group(request.group_id)
        if not request.member_id:
            group.member = f"member-{next(self._numbers)}"
            if version >= FIRST_WITH_MEMBER_ID_REQUIRED:
                code = self._kwire.error_codes.MEMBER_ID_REQUIRED
                return answer(error_code=code, protocol_name="", member_id=group.member)
        elif request.member_id != group.member:
            return answer(
                error_code=self._kwire.error_codes.UNKNOWN_MEMBER_ID, protocol_name=""
            )
        group.generation += 1
        protocol = request.protocols[0]
        return answer(
            generation_id=group.generation,
            protocol_type=request.protocol_type,
            protocol_name=protocol.name,
            leader=group.member,
            member_id=group.member,
            members=[
                answer.JoinGroupResponseMember(
                    member_id=group.member, metadata=protocol.metadata
                )
            ],
        )

    def sync_group(self, request, version):
        """Return the assignment that the leader has sent, which is its own."""
        answer = self._messages.SyncGroupResponse
        code = self._group(request.group_id).judge(request, self._kwire.error_codes)
        if code:
            return answer(error_code=code)
        (assignment,) = request.assignments
        return answer(
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=assignment.assignment,
        )

    def heartbeat(self, request, version):
        """Return an error code if the client is not the current member of the group."""
        code = self._group(request.group_id).judge(request, self._kwire.error_codes)
        return self._messages.HeartbeatResponse(error_code=code)

    def leave_group(self, request, version):
        """Remove the member from its group."""
        answer = self._messages.LeaveGroupResponse
        self._group(request.group_id).member = ""
        return answer(
            members=[
                answer.MemberResponse(
                    member_id=member.member_id,
                    group_instance_id=member.group_instance_id,
                )
                for member in request.members
            ]
        )

    def offset_commit(self, request, version):
        """Store the committed offsets of a group."""
        answer = self._messages.OffsetCommitResponse
        offsets = self._group(request.group_id).offsets
        topics = []
        for topic in request.topics:
            name = self._name(topic.name, topic.topic_id)
            parts = []
            for part in topic.partitions:
                offsets[name] = part.committed_offset
                parts.append(answer.OffsetCommitResponsePartition())
            topics.append(
                answer.OffsetCommitResponseTopic(
                    name=name, topic_id=topic.topic_id, partitions=parts
                )
            )
        return answer(topics=topics)

    def offset_fetch(self, request, version):
        """Return the committed offsets of the requested topics and groups."""
        answer = self._messages.OffsetFetchResponse
        if not request.groups:
            return answer(
                topics=self._kept(
                    request.group_id,
                    request.topics,
                    answer.OffsetFetchResponseTopic,
                    answer.OffsetFetchResponsePartition,
                )
            )
        return answer(
            groups=[
                answer.OffsetFetchResponseGroup(
                    group_id=group.group_id,
                    topics=self._kept(
                        group.group_id,
                        group.topics,
                        answer.OffsetFetchResponseTopics,
                        answer.OffsetFetchResponsePartitions,
                    ),
                )
                for group in request.groups
            ]
        )

    def committed(self, group, topic):
        """Return the committed offset of a topic in a group, or -1 if there is none."""
        return self._group(group).offsets.get(topic, -1)

    def _kept(self, group_id, topics, topic_class, partition_class):
        answers = []
        for topic in topics:
            offsets = {}
            name = topic.name
            if hasattr(topic, "topic_id"):
                name = self._name(topic.name, topic.topic_id)
                offsets = {"topic_id": topic.topic_id}
            part = partition_class(
                committed_offset=self.committed(group_id, name), metadata=""
            )
            answers.append(topic_class(name=name, partitions=[part], **offsets))
        return answers

    def _group(self, group_id):
        return self._groups.setdefault(group_id, Group())

    def _name(self, name, topic_id):
        """Return the name of a topic that is identified by its name or its id.

        A topic that is identified by name is created if it does not exist.
        """
        if not name:
            return self._names[topic_id]
        if name not in self._ids:
            self._ids[name] = uuid4()
            self._names[self._ids[name]] = name
        return name

    def _end(self, name):
        log = self._logs.get(name)
        return log[-1][1] if log else 0

    def _append(self, name, data):
        """Append batches to a log, and return their first offset."""
        start = self._end(name)
        for batch in self._kwire.records.decode_batches(data):
            begin = self._end(name)
            rows = list(map(row_of, batch.records))
            stored = self._kwire.records.encode_batch(
                rows,
                magic=batch.magic,
                compression=batch.compression,
                base_offset=begin,
                producer_id=batch.producer_id,
                producer_epoch=batch.producer_epoch,
                base_sequence=batch.base_sequence,
            )
            self._logs.setdefault(name, []).append((begin, begin + len(rows), stored))
        return start

    def _fetched(self, name, part):
        end = self._end(name)
        stored = [
            data
            for _, stop, data in self._logs.get(name, ())
            if stop > part.fetch_offset
        ]
        codes = self._kwire.error_codes
        in_range = 0 <= part.fetch_offset <= end
        return self._messages.FetchResponse.PartitionData(
            error_code=codes.NONE if in_range else codes.OFFSET_OUT_OF_RANGE,
            high_watermark=end,
            last_stable_offset=end,
            log_start_offset=0,
            aborted_transactions=None,
            records=b"".join(stored),
        )


class Group:
    """Consumer group with one member."""

    def __init__(self):
        """Start without a member."""
        self.generation = 0
        self.member = ""
        self.offsets: dict[str, int] = {}

    def judge(self, request, codes):
        """Return an error code if the client is not the current member, otherwise 0."""
        if request.member_id != self.member:
            return codes.UNKNOWN_MEMBER_ID
        current = request.generation_id == self.generation
        return codes.NONE if current else codes.ILLEGAL_GENERATION


ANSWERS = {
    "Produce": Cluster.produce,
    "Fetch": Cluster.fetch,
    "ListOffsets": Cluster.list_offsets,
    "Metadata": Cluster.metadata,
    "OffsetCommit": Cluster.offset_commit,
    "OffsetFetch": Cluster.offset_fetch,
    "FindCoordinator": Cluster.find_coordinator,
    "JoinGroup": Cluster.join_group,
    "Heartbeat": Cluster.heartbeat,
    "LeaveGroup": Cluster.leave_group,
    "SyncGroup": Cluster.sync_group,
    "InitProducerId": Cluster.init_producer_id,
}

BY_THE_CONNECTION = ("ApiVersions", "SaslHandshake", "SaslAuthenticate")


def offered(kwire, release):
    """Reduce the version table of a release to the APIs that the broker implements."""
    negotiation = importlib.import_module(f"{kwire.__name__}.connection.negotiation")
    # Use the tables for all listeners, because 2.8 brokers without ZooKeeper did not
    # support InitProducerId.
    whole = negotiation.ApiVersionTable.of_release(release, None).advertised
    keys = [
        getattr(kwire.messages, f"{name}Request").api_key
        for name in (*ANSWERS, *BY_THE_CONNECTION)
    ]
    return negotiation.ApiVersionTable(
        {key: whole[key] for key in sorted(keys) if key in whole}
    )


def row_of(record):
    """Return the record fields that a test compares: all except the offset."""
    return record.key, record.value, record.timestamp, record.headers
