# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Messages are frozen Python objects: compared by value, copyable and picklable.

All statements hold for both engines. Only the texts of some errors differ.
"""

import copy
import gc
import inspect
import os
import pickle
import subprocess
import sys
import uuid

import pytest

from tests.harness.values import TASTES, build, neutral, systematic

TAGS = "unknown_tagged_fields"


@pytest.fixture
def topic(kwire):
    """Return ``MetadataResponseTopic``, which is a nested struct class."""
    return kwire.messages.MetadataResponse.MetadataResponseTopic


def test_absent_arguments_are_the_defaults_of_the_schema(kwire):
    """A field that is not passed has the schema's default, or else 0 or "".

    The default of an array is an empty tuple, and of a struct a struct with its
    defaults.
    """
    fetch = kwire.messages.FetchRequest()
    assert (fetch.cluster_id, fetch.replica_id, fetch.max_wait_ms) == (None, -1, 0)
    assert (fetch.max_bytes, fetch.session_epoch) == (0x7FFFFFFF, -1)
    assert (fetch.topics, fetch.rack_id) == ((), "")
    assert fetch.replica_state == kwire.messages.FetchRequest.ReplicaState()
    assert fetch.replica_state.replica_id == -1
    topic = fetch.FetchTopic()
    assert topic.topic_id == uuid.UUID(int=0)
    assert kwire.messages.MetadataRequest().allow_auto_topic_creation is True
    assert kwire.messages.ProduceRequest.PartitionProduceData().records is None


def test_every_field_of_every_message_has_its_default(kwire):
    """A message without arguments contains the defaults of the encoding plan."""
    for name in kwire.messages.ALL:
        cls = getattr(kwire.messages, name)
        binding = kwire._engine.active.engine.binding_of(cls)
        message = cls()
        for field in binding.message.struct.fields:
            default = kwire.schema.plan.resolve_default(field)
            if default is kwire.schema.plan.STRUCT_DEFAULT:
                default = getattr(cls, field.type)()
            assert getattr(message, field.attribute) == default
        assert message.unknown_tagged_fields == ()


def test_arguments_are_keywords_only(kwire, topic):
    """Fields are keyword-only in constructors and in ``replace``."""
    for cls in (kwire.messages.MetadataRequest, topic):
        with pytest.raises(TypeError):
            cls(None)
        with pytest.raises(TypeError):
            cls.__new__(cls, None)
        with pytest.raises(TypeError):
            cls().replace(None)


def test_unknown_fields_are_refused(kwire, topic):
    """An unknown field raises TypeError, and the error contains the field name."""
    for cls in (kwire.messages.MetadataRequest, topic):
        with pytest.raises(TypeError, match="no_such_field"):
            cls(no_such_field=1)
        with pytest.raises(TypeError, match="no_such_field"):
            cls().replace(no_such_field=1)


def test_field_names_need_not_be_interned(topic):
    """Keywords that were created at run time are matched by value."""
    message = topic(**{"".join(["na", "me"]): "a", "".join(["error_", "code"]): 3})
    assert (message.name, message.error_code) == ("a", 3)
    assert message.replace(**{"".join(["na", "me"]): "b"}).name == "b"


@pytest.mark.parametrize("sequence", [list, tuple, iter, dict.fromkeys])
def test_any_sequence_becomes_a_tuple(kwire, sequence):
    """Constructors and ``replace`` convert any iterable to a tuple."""
    partition = kwire.messages.MetadataResponse.MetadataResponsePartition
    message = partition(isr_nodes=sequence([1, 2]))
    assert message.isr_nodes == (1, 2)
    assert type(message.isr_nodes) is tuple
    changed = partition().replace(isr_nodes=sequence([3]))
    assert type(changed.isr_nodes) is tuple
    tagged = partition(unknown_tagged_fields=[(9, b"x")])
    assert tagged.unknown_tagged_fields == ((9, b"x"),)


@pytest.mark.parametrize(
    "no_array", ["abc", b"abc", bytearray(b"a"), memoryview(b"a"), 5]
)
def test_str_and_bytes_are_rejected_as_arrays(topic, no_array):
    """``partitions="abc"`` and bytes raise TypeError, although they are iterable."""
    with pytest.raises(TypeError):
        topic(partitions=no_array)
    with pytest.raises(TypeError):
        topic().replace(partitions=no_array)


def test_null_fields_remain_none(kwire, topic):
    """An array field with the value None, which encodes a null array, stays None."""
    assert kwire.messages.MetadataRequest(topics=None).topics is None
    assert topic(partitions=None).partitions is None


def test_messages_are_frozen(kwire, topic):
    """Fields cannot be set or deleted, and attributes cannot be added."""
    for message in (kwire.messages.MetadataResponse(), topic()):
        before = neutral(message)
        for name in (*message.__match_args__, TAGS, "no_such_field"):
            with pytest.raises(AttributeError):
                setattr(message, name, 1)
            with pytest.raises(AttributeError):
                delattr(message, name)
        with pytest.raises(AttributeError):
            message.__dict__ = {}
        vars(message)["no_such_field"] = 1
        assert neutral(message) == before and not hasattr(message, "no_such_field")


def test_vars_are_the_fields_of_to_dict(kwire, topic):
    """``vars`` returns all fields, because Spark uses it to read an object."""
    message = kwire.messages.MetadataResponse(topics=[], throttle_time_ms=3)
    records = kwire.records.decode_records(
        kwire.records.encode_batch([(b"k", b"v", 5, [("h", b"x")])])
    )[0]
    for struct in (message, topic(), records[0]):
        assert vars(struct) == struct.to_dict() and vars(struct)
        assert "no_such_field" not in vars(struct)
        # ``vars`` of a class, unlike ``vars`` of an instance, is the attribute
        # dictionary.
        assert "to_dict" in type(struct).__dict__


def test_classes_are_final(kwire, topic):
    """Subclassing a message class raises TypeError.

    The engines rely on the exact classes.
    """
    for cls in (kwire.messages.MetadataRequest, topic):
        with pytest.raises(TypeError):
            type("Mine", (cls,), {})


def test_values_are_equal_field_by_field(kwire, topic):
    """Two messages are equal, with equal hashes, if all of their fields are equal.

    If any single field differs, the messages are not equal.
    """
    values = {"name": "a", "partitions": [], "error_code": 3}
    assert topic(**values) == topic(**values)
    assert (topic(**values) != topic(**values)) is False
    assert hash(topic(**values)) == hash(topic(**values))
    for name, value in [("name", "b"), ("error_code", 4), (TAGS, ((99, b""),))]:
        assert topic(**values) != topic(**(values | {name: value}))
    assert topic() != kwire.messages.MetadataResponse()
    assert topic() != tuple(getattr(topic(), name) for name in topic.__match_args__)
    assert topic().__eq__(1) is NotImplemented
    with pytest.raises(TypeError):
        topic() < topic()  # noqa: B015


def test_hash_needs_hashable_values(kwire):
    """A message with a bytes value is hashable.

    If the value is a bytearray instead, ``hash`` raises TypeError.
    """
    partition = kwire.messages.ProduceRequest.PartitionProduceData
    assert hash(partition(records=b"x")) == hash(partition(records=b"x"))
    with pytest.raises(TypeError):
        hash(partition(records=bytearray(b"x")))


def test_equal_fields_of_two_classes_have_two_hashes(kwire):
    """Equal field values in messages of two classes do not give equal hashes.

    Otherwise, default messages of many classes would collide in a set.
    """
    messages = kwire.messages
    classes = [getattr(messages, name) for name in messages.ALL]
    assert len({hash(cls()) for cls in classes}) == len(classes)


def test_repr_is_a_constructor_call(kwire, topic):
    """``repr`` lists all fields in schema order.

    ``unknown_tagged_fields`` is included only if the message has unknown tagged fields.
    """
    message = kwire.messages.MetadataRequest(topics=None)
    assert repr(message) == (
        "MetadataRequest(topics=None, allow_auto_topic_creation=True, "
        "include_cluster_authorized_operations=False, "
        "include_topic_authorized_operations=False)"
    )
    text = repr(topic(name="é", unknown_tagged_fields=[(7, b"\0")]))
    assert text.startswith("MetadataResponseTopic(error_code=0, name='é', ")
    assert text.endswith(", unknown_tagged_fields=((7, b'\\x00'),))")
    names = {
        name: getattr(kwire.messages.MetadataResponse, name)
        for name in ("MetadataResponseTopic", "MetadataResponsePartition")
    }
    nested = topic(name="t", partitions=[names["MetadataResponsePartition"]()])
    assert eval(repr(nested), names | {"UUID": uuid.UUID}) == nested


def test_replace_changes_a_copy(kwire, topic):
    """``replace`` returns a changed copy, which shares the objects of other fields.

    The original message is unchanged.
    """
    tags = ((99, b"x"),)
    original = topic(name="a", partitions=[], error_code=5, unknown_tagged_fields=tags)
    changed = original.replace(name="b")
    assert (original.name, changed.name, changed.error_code) == ("a", "b", 5)
    assert changed.unknown_tagged_fields is tags
    assert type(changed) is topic
    assert original.replace() == original
    assert original.replace(unknown_tagged_fields=()).unknown_tagged_fields == ()


def test_to_dict_is_plain_at_every_depth(kwire, topic):
    """``to_dict`` converts structs to dicts and arrays to lists, recursively."""
    partition = kwire.messages.MetadataResponse.MetadataResponsePartition
    tags = ((9, b"x"),)
    message = kwire.messages.MetadataResponse(
        cluster_id=None,
        topics=[topic(name="t", partitions=[partition(isr_nodes=[1, 2])])],
        unknown_tagged_fields=tags,
    )
    fields = message.to_dict()
    assert tuple(fields) == (*message.__match_args__, TAGS)
    assert (fields["cluster_id"], fields["brokers"]) == (None, [])
    assert fields[TAGS] == list(tags)
    assert type(fields["topics"]) is list and type(fields["topics"][0]) is dict
    inner = fields["topics"][0]
    assert inner == message.topics[0].to_dict()
    assert TAGS not in inner and inner["topic_id"] == uuid.UUID(int=0)
    assert inner["partitions"][0]["isr_nodes"] == [1, 2]
    fetch = kwire.messages.FetchRequest().to_dict()
    assert fetch["replica_state"] == {"replica_id": -1, "replica_epoch": -1}
    view = memoryview(b"ab")
    data = kwire.messages.SaslAuthenticateRequest(auth_bytes=view).to_dict()
    assert data["auth_bytes"] is view
    record = kwire.records.Record(key=b"k", headers=[("h", None)])
    assert record.to_dict() == {
        "offset": 0,
        "timestamp": -1,
        "key": b"k",
        "value": None,
        "headers": [("h", None)],
    }


def test_to_dict_has_all_fields_of_every_message(kwire):
    """No field name hides ``to_dict``, and no nested struct remains unconverted."""

    def rebuilt(cls, fields, owner):
        values = {}
        for name, value in fields.items():
            struct = structs.get((cls.__name__, name))
            if struct is not None and value is not None:
                inner = getattr(owner, struct)
                if isinstance(value, list):
                    value = [rebuilt(inner, element, owner) for element in value]
                else:
                    value = rebuilt(inner, value, owner)
            values[name] = value
        return cls(**values)

    for name in kwire.messages.ALL:
        cls = getattr(kwire.messages, name)
        message = kwire._engine.active.engine.binding_of(cls).message
        structs = {
            (struct.name, field.attribute): field.struct.name
            for struct in (message.struct, *message.structs())
            for field in struct.fields
            if field.struct is not None
        }
        for _, plain in systematic(kwire, name, cls.valid_versions.max):
            built = build(kwire, name, plain)
            assert rebuilt(cls, built.to_dict(), cls) == built


def test_to_dict_of_a_long_chain_is_an_error(kwire):
    """Very deep nesting raises ``RecursionError`` instead of a crash."""
    message = None
    for _ in range(50_000):
        message = kwire.messages.FetchRequest(replica_state=message)
    with pytest.raises(RecursionError):
        message.to_dict()


def test_match_takes_fields_in_schema_order(kwire, topic):
    """``match`` patterns accept fields by position, in schema order, and by keyword."""
    match topic(error_code=3, name="a"):
        case topic(3, name):
            assert name == "a"
        case _:
            pytest.fail("the pattern by position does not match")
    match kwire.messages.MetadataRequest(topics=None):
        case kwire.messages.MetadataRequest(topics=None):
            pass
        case _:
            pytest.fail("the pattern by name does not match")


def test_copies_are_equal(kwire):
    """``copy`` and ``deepcopy`` return equal messages of the same class."""
    for name, version in [("MetadataResponse", 12), ("FetchRequest", 17)]:
        for _, plain in systematic(kwire, name, version):
            message = build(kwire, name, plain)
            for duplicate in (copy.copy(message), copy.deepcopy(message)):
                assert duplicate == message
                assert type(duplicate) is type(message)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_read_as_equal_messages(kwire, protocol):
    """Messages and nested structs can be pickled with all protocols."""
    message = build(
        kwire,
        "MetadataResponse",
        dict(systematic(kwire, "MetadataResponse", 12))["unknown tags"],
    )
    for value in (message, message.topics[0], message.topics[0].partitions[0]):
        restored = pickle.loads(pickle.dumps(value, protocol))
        assert restored == value
        assert neutral(restored) == neutral(value)
        assert type(restored) is type(value)


_DUMP = (
    "import pickle, sys, kwire\n"
    "from tests.harness import values\n"
    "made = [values.build(kwire, name, plain) for name in sys.argv[1:]\n"
    "        for _, plain in values.systematic(kwire, name, "
    "getattr(kwire.messages, name).valid_versions.max)]\n"
)
_WRITE = _DUMP + "sys.stdout.buffer.write(pickle.dumps((kwire.backend, made)))\n"
_READ = _DUMP + (
    "backend, read = pickle.load(sys.stdin.buffer)\n"
    "assert backend != kwire.backend, backend\n"
    "assert read == made, (read, made)\n"
    "print(kwire.backend, len(read))\n"
)


@pytest.mark.parametrize(("writer", "reader"), [("fast", "pure"), ("pure", "fast")])
def test_pickles_cross_between_engines(twins, writer, reader):
    """A message that is pickled with one engine can be loaded with the other one."""
    names = ["FetchResponse", "MetadataResponse", "CreateTopicsRequest"]

    def run(code, backend, stdin):
        environment = os.environ | {
            "KWIRE_BACKEND": backend,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        command = [sys.executable, "-c", code, *names]
        return subprocess.run(
            command, input=stdin, env=environment, capture_output=True, check=True
        ).stdout

    pickles = run(_WRITE, writer, b"")
    counts = len(names) * (len(TASTES) + 1)
    assert run(_READ, reader, pickles) == f"{reader} {counts}\n".encode()


def test_classes_created_at_run_time_explain_pickling(kwire):
    """Pickling a message of a class from a custom schema raises TypeError.

    The class cannot be imported by its name, so the error suggests to pickle the
    encoded bytes.
    """
    cls = kwire.messages.message_class(SCHEMA)
    with pytest.raises(TypeError, match="pickle its encoded bytes"):
        pickle.loads(pickle.dumps(cls()))


def test_message_classes_describe_api_kind_and_versions(kwire):
    """Message classes have attributes for the API key, the kind and the versions."""
    messages = kwire.messages
    expected = {
        "MetadataRequest": (3, "request", (0, 13), (9, 32767)),
        "MetadataResponse": (3, "response", (0, 13), (9, 32767)),
        "RequestHeader": (None, "header", (0, 2), (2, 32767)),
        "TopicRecord": (2, "metadata", (0, 0), (0, 32767)),
        "OffsetCommitKey": (1, "coordinator-key", (0, 0), None),
        "OffsetCommitValue": (1, "coordinator-value", (0, 4), (4, 32767)),
        "SubscriptionInfoData": (None, "data", (1, 11), None),
    }
    for name, (key, kind, valid, flexible) in expected.items():
        cls = getattr(messages, name)
        assert (cls.__name__, cls.__qualname__) == (name, name)
        assert (cls.api_key, cls.kind) == (key, kind)
        assert cls.valid_versions == kwire.VersionRange(*valid)
        if flexible is None:
            assert not cls.flexible_versions
        else:
            assert cls.flexible_versions == kwire.VersionRange(*flexible)


def test_messages_are_listed_and_found(kwire):
    """``ALL`` is sorted and complete. ``by_key`` returns every request and response."""
    messages = kwire.messages
    assert list(messages.ALL) == sorted(set(messages.ALL))
    for key in range(95):
        request = messages.by_key(key, "request")
        response = messages.by_key(key, "response")
        assert (request.api_key, response.api_key) == (key, key)
        assert request.__name__.removesuffix("Request") == (
            response.__name__.removesuffix("Response")
        )
    with pytest.raises(KeyError):
        messages.by_key(95, "request")
    with pytest.raises(AttributeError, match="NoSuchRequest"):
        messages.NoSuchRequest  # noqa: B018
    assert messages.MetadataRequest is messages.MetadataRequest


def test_nested_structs_are_attributes(kwire, topic):
    """Nested structs have Kafka's name, and the message in their qualified name."""
    assert topic.__name__ == "MetadataResponseTopic"
    assert topic.__qualname__ == "MetadataResponse.MetadataResponseTopic"
    assert topic.__module__ == kwire.messages.__name__
    message = kwire.messages.MetadataResponse(topics=[topic()])
    assert type(message.topics[0]) is topic


def test_nested_structs_are_no_messages(kwire, topic):
    """If a struct is passed instead of a message, the TypeError says so."""
    with pytest.raises(TypeError, match="is a struct of a message"):
        kwire.decode(topic, b"", 12)
    with pytest.raises(TypeError, match="is a struct of a message"):
        kwire.encode(topic(), 12)


@pytest.mark.parametrize("no_message", [None, 5, int, "MetadataRequest", object()])
def test_encode_and_decode_reject_other_objects(kwire, no_message):
    """Other objects raise ``TypeError``, and the message names the expected type."""
    with pytest.raises(TypeError, match="message class of kwire"):
        kwire.decode(no_message, b"", 0)
    with pytest.raises(TypeError, match="message class of kwire"):
        kwire.encode(no_message, 0)


def test_signature_can_be_inspected(kwire, topic):
    """Parameters are keyword-only, in schema order, with the unknown tags last."""
    for cls in (kwire.messages.MetadataResponse, topic):
        parameters = inspect.signature(cls).parameters
        assert tuple(parameters) == (*cls.__match_args__, TAGS)
        kinds = {parameter.kind for parameter in parameters.values()}
        assert kinds == {inspect.Parameter.KEYWORD_ONLY}
        assert all(p.default is not p.empty for p in parameters.values())


def test_collector_need_not_know_decoded_messages(twins):
    """The garbage collector does not track decoded messages of the compiled engine.

    This includes nested structs and the tuples of array fields. They cannot be part of
    a reference cycle, and tracking them would slow down every collection.
    """
    messages = twins.fast.messages
    partition = messages.MetadataResponse.MetadataResponsePartition(isr_nodes=[1, 2])
    response = messages.MetadataResponse(
        topics=[messages.MetadataResponse.MetadataResponseTopic(partitions=[partition])]
    )
    decoded = twins.fast.decode(type(response), twins.fast.encode(response, 12), 12)
    inner = decoded.topics[0].partitions[0]
    for value in (decoded, decoded.topics, decoded.topics[0], inner, inner.isr_nodes):
        assert not gc.is_tracked(value)


SCHEMA = """
// A message that Kafka does not have.
{ "name": "SampleRequest", "type": "request", "apiKey": 900,
  "validVersions": "0-2", "flexibleVersions": "1+",
  "fields": [
    { "name": "Id", "type": "int32", "versions": "0+", "default": "7" },
    { "name": "Parts", "type": "[]Part", "versions": "0+", "fields": [
      { "name": "PartName", "type": "string", "versions": "0+" },
      { "name": "Size", "type": "int64", "versions": "2+", "ignorable": true },
      { "name": "Weight", "type": "float64", "versions": "1+",
        "taggedVersions": "1+", "tag": 0 }
    ]}
  ]
}
"""


def test_schemas_at_run_time_create_working_classes(kwire):
    """A custom schema creates a complete class outside the global registry."""
    cls = kwire.messages.message_class(SCHEMA)
    assert (cls.__name__, cls.api_key, cls.kind) == ("SampleRequest", 900, "request")
    assert cls().id == 7
    message = cls(id=1, parts=[cls.Part(part_name="ab", size=5, weight=0.5)])
    data = kwire.encode(message, 2)
    tag = b"\x01\x00\x08\x3f\xe0" + bytes(6)
    assert data == b"\0\0\0\1\x02\x03ab" + b"\0\0\0\0\0\0\0\x05" + tag + b"\0"
    assert kwire.decode(cls, data, 2) == message
    with pytest.raises(kwire.EncodeError) as caught:
        kwire.encode(message, 0)
    assert caught.value.path == "parts[0].weight"
    with pytest.raises(kwire.Truncated) as caught:
        kwire.decode(cls, data[:-1], 2)
    assert caught.value.message_name == "SampleRequest"
    assert "SampleRequest" not in kwire.messages.ALL
    assert kwire.messages.message_class(SCHEMA) is not cls


def encode_topics(kwire, count):
    """Encode a Metadata response with ``count`` topics. Return (class, bytes)."""
    cls = kwire.messages.MetadataResponse
    topics = [cls.MetadataResponseTopic(name=f"t{index}") for index in range(count)]
    return cls, kwire.encode(cls(topics=topics), version=9)


def test_free_list_of_a_class_is_small(kwire):
    """The free list of a class keeps at most 64 KB, even after a large message."""
    code = (
        "import gc, sys, kwire\n"
        "cls = kwire.messages.MetadataResponse\n"
        "topic = cls.MetadataResponseTopic\n"
        "list(topic(name='t') for _ in range(9)); gc.collect()\n"
        "before = sys.getallocatedblocks()\n"
        "made = [topic(name='t') for _ in range(20_000)]; del made; gc.collect()\n"
        "print(sys.getallocatedblocks() - before)\n"
    )
    environment = {**os.environ, "KWIRE_BACKEND": kwire.backend}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )
    assert int(done.stdout) <= 65536 // 64


def test_truncated_struct_releases_its_own_fields(kwire):
    """If decoding fails within a struct, only the fields decoded so far are released.

    The compiled engine reuses the memory of freed structs, which still contains the
    pointers of their previous fields. Releasing one of these pointers again would be a
    double free.
    """
    cls, data = encode_topics(kwire, 3)
    message = kwire.decode(cls, data, version=9)
    name = message.topics[0].name
    before = sys.getrefcount(name)
    for _ in range(3):
        for end in range(len(data)):
            kwire.decode(cls, data, version=9)
            with pytest.raises(kwire.DecodeError):
                kwire.decode(cls, data[:end], version=9)
    assert sys.getrefcount(name) == before
    assert kwire.decode(cls, data, version=9) == message


def test_a_struct_in_another_struct_is_named_with_its_place(kwire):
    """If a nested struct is looked up in another struct, the error says where it is.

    All nested struct classes are attributes of the message class.
    """
    message = kwire.messages.MetadataResponse
    topic = message.MetadataResponseTopic
    expected = (
        "MetadataResponse.MetadataResponseTopic has no attribute"
        " MetadataResponsePartition; nested structs are attributes of the message: use"
        " MetadataResponse.MetadataResponsePartition"
    )
    for owner in (topic, topic()):
        with pytest.raises(AttributeError) as caught:
            _ = owner.MetadataResponsePartition
        assert str(caught.value) == expected
        assert not hasattr(owner, "MetadataResponsePartition")
    assert message.MetadataResponsePartition
    with pytest.raises(AttributeError, match="no attribute 'Other'"):
        _ = topic.Other
