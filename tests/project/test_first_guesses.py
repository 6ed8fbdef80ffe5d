# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Spellings that users try first if they know other Kafka clients, and their errors.

A spelling works, or its error contains the correct spelling, or a table in the guides
lists it. ``PYTHON`` and ``COMMANDS`` contain the text that the error must contain.
"""

import asyncio
import importlib
import inspect
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from kwire._text.foreign_names import ARGUMENTS, ATTRIBUTES
from kwire._text.foreign_names import COMMANDS as OTHER_COMMANDS

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"

# Spellings that raise an error, and a text that the error must contain. A name before
# the first "." or "(" is an object of the fixture ``objects``.
PYTHON = {
    # Modules and classes in other clients.
    "kwire.loads(data)": "use kwire.decode(",
    "kwire.dumps(message)": "use kwire.encode(",
    "kwire.parse(data)": "use kwire.decode(",
    "kwire.entity_reader": "use kwire.decode(",
    "kwire.MetadataRequest": "use kwire.messages.MetadataRequest",
    "kwire.Consumer": "kwire.client.connect_sync",
    "kwire.Producer": "kafka.producer()",
    "kwire.AdminClient": "topics()",
    "kwire.KafkaConsumer('orders')": "kafka.scan(",
    "kwire.AIOKafkaConsumer('orders')": "kwire.client.adapters",
    "kwire.connect('host:9092')": "kwire.client.connect_sync",
    "kwire.arrow": "kwire.records.arrow",
    "kwire.framing": "kwire.messages.framing",
    "kwire.decode_records(data)": "kwire.records.decode_batches",
    "messages.MetadataRequest_v12": "did you mean MetadataRequest",
    "messages.MetadataRequestData": "did you mean MetadataRequest",
    "messages.metadata": "did you mean MetadataRequest",
    "records.decode(data)": "kwire.records.decode_batches",
    "records.MemoryRecords(data)": "kwire.records.decode_batches",
    "records.to_arrow(data)": "records_to_arrow",
    "client.KafkaConsumer('orders')": "kafka.scan(",
    "client.KafkaProducer()": "kafka.producer()",
    "client.AdminClient({})": "create_topics()",
    "client.KafkaClient()": "connect_sync",
    "client.connect_async('host:9092')": "connect_sync",
    "client.TopicPartition('orders', 0)": '("orders", 0)',
    "client.NewTopic('orders', 3)": 'kafka.create_topics({"orders": 3})',
    # Messages.
    "kwire.decode(cls, data)": "version",
    "kwire.encode(message)": "version",
    "kwire.decode(data, cls, version=12)": "comes before the data",
    "kwire.decode('MetadataResponse', data, version=12)": "kwire.messages",
    "cls.decode(data)": "use kwire.decode(",
    "cls.from_bytes(data)": "use kwire.decode(",
    "message.encode()": "use kwire.encode(",
    "message.serialize()": "use kwire.encode(",
    "message.to_json()": "use kwire.to_json(",
    # Connections.
    "client.Kafka('host:9092')": "client.connect_sync(",
    "client.Kafka(bootstrap_servers='host:9092')": "client.connect_sync(",
    "client.Consumer({'group.id': 'etl'})": "kafka.consumer(",
    "client.Producer({'bootstrap.servers': 'host'})": "kafka.producer()",
    "client.connect_sync(['host:9092'])": '",".join(addresses)',
    "client.connect_sync({'bootstrap.servers': 'host:9092'})": "config=",
    "client.connect_sync('host', 9092)": '"host:9092"',
    "client.connect_sync(bootstrap_servers='host:9092')": '"host:9092"',
    "client.connect_sync(**{'bootstrap.servers': 'host:9092'})": '"host:9092"',
    "client.connect_sync('host:9092', security_protocol='SSL')": "config=",
    "client.connect_sync('host:9092', sasl_mechanism='PLAIN')": "sasl=",
    "client.connect_sync('host:9092', ssl_cafile='ca.pem')": "ssl=",
    "client.connect_sync('host:9092', group_id='etl')": "kafka.consumer(",
    "client.connect_sync('host:9092', client_ld='me')": "did you mean client_id",
    "client.connect_sync('host:9092', request_timeout_ms=9)": "request_timeout_s=",
    "client.connect_sync('host:9092', colour=1)": "the names are addresses, config",
    # The blocking client and the asyncio client.
    "exec('with client.connect(\"host:9092\"): pass')": 'use "async with"',
    "list(awaited.scan('orders'))": 'use "async for"',
    # The client.
    "kafka.create_topic('orders')": 'create_topics({"orders": 3})',
    "kafka.create_topics('orders', num_partitions=3)": 'create_topics({"orders": 3})',
    "kafka.delete_topic('orders')": "delete_topics(",
    "kafka.list_topics()": "use kafka.topics()",
    "kafka.describe_topics()": "use kafka.topics()",
    "kafka.list_consumer_groups()": "use kafka.groups()",
    "kafka.describe_configs()": "use kafka.configs(",
    "kafka.end_offsets(['orders'])": "use kafka.offsets(",
    "kafka.offsets_for_times({})": "use kafka.offsets(",
    "kafka.committed('etl')": "use kafka.group_offsets(",
    "kafka.subscribe(['orders'])": "kafka.consumer(",
    "kafka.poll(1.0)": "kafka.scan(",
    "kafka.read('orders')": "kafka.scan(",
    "kafka.send('orders', value=b'')": "kafka.producer()",
    "kafka.produce('orders', b'')": "kafka.producer()",
    # Scans.
    "kafka.scan('orders', isolation='read_committed')": "use isolation_level=",
    "kafka.scan('orders', isolation_level='committed')": '"read_committed"',
    "kafka.scan('orders', auto_offset_reset='earliest')": 'start="earliest"',
    "kafka.scan('orders', startingOffsets='earliest')": "use start=",
    "kafka.scan('orders', start='beginning')": '"earliest"',
    "kafka.scan('orders', partitions=[0])": 'topics={"orders": [0, 1]}',
    "kafka.scan('orders', follows=True)": "did you mean follow",
    "kafka.scan('orders', group_id='etl')": "kafka.consumer(",
    "scan.to_pandas()": "pyarrow.table(scan).to_pandas()",
    "scan.to_arrow()": "pyarrow.table(scan)",
    "scan.to_polars()": "polars.DataFrame(scan)",
    "scan.fetchall()": "list(scan.records())",
    "scan.poll()": "for chunk in scan",
    "chunk.value": "scan.records()",
    "chunk.to_pandas()": "chunk.to_arrow().to_pandas()",
    # Consumers.
    "kafka.consumer('orders')": "kafka.scan(",
    "kafka.consumer('orders', **{'group.id': 'etl'})": "group_id",
    "kafka.consumer('orders', group_id='g', enable_auto_commit=True)": "commit(chunk)",
    "kafka.consumer('orders', group_id='etl', value_deserializer=str)": "are bytes",
    "consumer.subscribe(['orders'])": "pass topics to kafka.consumer(",
    "consumer.consume(10)": "for chunk in consumer",
    "consumer.getmany()": "for chunk in consumer",
    "consumer.poll(timeout_ms=1000)": "use timeout_s=",
    "consumer.poll(timeout=1.0)": "use timeout_s=",
    "consumer.seek_to_beginning()": 'consumer.seek("earliest")',
    "consumer.commit_async()": "consumer.commit(chunk)",
    # Producers.
    "kafka.producer(compression_type='zstd')": "use compression=",
    "kafka.producer(linger_ms=5)": "use linger_s=, in seconds",
    "kafka.producer(acks='1')": '"all", 1 or 0',
    "kafka.producer(enable_idempotence=True)": "use idempotent=",
    "producer.produce('orders', b'')": "producer.send(",
    "producer.send_and_wait('orders', b'')": "producer.send_many(",
    "producer.poll(0)": "flush()",
    "producer.begin_transaction()": "with producer.transaction()",
    # Columns.
    "columns.to_pandas()": "pyarrow.record_batch",
    "columns.timestamps": "did you mean timestamp",
}

# Spellings that work as users expect. They must not raise an error.
WORKING = (
    "kwire.decode(cls, data, 12)",
    "kafka.producer(acks='all')",
    "kafka.producer(acks=-1)",
    "kafka.consumer('orders', group_id='etl')",
    "record.value.decode()",
    "record.key.decode()",
    "records.Record(offset=0)",
)

COMMANDS = {
    "consume h:9092 orders": "use kwire read",
    "console-consumer": "use kwire read",
    "tail h:9092 orders": "use kwire read",
    "produce h:9092 orders": "use kwire write",
    "list": "use kwire topics",
    "topic": "did you mean topics",
    "consumer-groups": "use kwire groups",
    "broker-api-versions": "use kwire versions",
    "dump-log orders": "use kwire dump",
    "topics --bootstrap-server h:9092": "kwire topics HOST:PORT",
    "topics --bootstrap-server=h:9092 --list": "kwire topics HOST:PORT",
    "read -b h:9092 -t orders": "kwire topics HOST:PORT",
    "-b h:9092 -t orders": "kwire topics HOST:PORT",
    "read h:9092 --topic orders": "kwire read HOST:PORT TOPIC",
    "read orders": "HOST:PORT",
    "read h:9092 orders --from-beginning": "--from earliest",
    "read h:9092 orders --max-messages 5": "use --limit N",
    "read h:9092 orders --group etl": "no consumer group",
    "read h:9092 orders --consumer.config f": "use --config FILE",
    "read h:9092 orders -X security.protocol=SSL": "use --config FILE",
    "read h:9092 orders --json": "use --format jsonl",
    "read h:9092 orders -o json": "jsonl",
    "groups h:9092 --describe": "by default",
    "dump --files orders": "kwire dump PATH",
}

SPARK = {
    "bootstrap.servers": "did you mean kafka.bootstrap.servers?",
    "bootstrap_servers": "did you mean kafka.bootstrap.servers?",
    "topic": "use subscribe",
    "topics": "use subscribe",
    "group.id": "did you mean kafka.group.id?",
    "auto.offset.reset": "use startingOffsets",
    "kafka.auto.offset.reset": "startingOffsets says where to begin",
    "startingOffset": "did you mean startingOffsets?",
    "isolation.level": "did you mean isolationLevel?",
}

# Spellings that raise an error of Python, by the guide that lists them in a table.
# kwire cannot change such an error.
IN_GUIDES = {
    "live.md": (
        "from kwire import Consumer",
        'producer.send("orders", b"value")',
        "timestamp_ms=",
        "on_delivery=",
        "record.value()",
        "record.timestamp_ms",
        "len(chunk)",
        "len(scan)",
        "pandas.DataFrame(scan)",
        "for record in scan",
    ),
    "messages.md": (
        "loads",
        "api_version",
        "compression_type",
        "allowAutoTopicCreation",
    ),
    "live-commands.md": ("-o beginning", "-J", "--bootstrap-server"),
}


@pytest.fixture(scope="module")
def objects(kwire):
    """Return the objects that the spellings use, by name. They do not connect."""

    def load(name):
        return importlib.import_module(f"{kwire.__name__}.{name}")

    client, records, messages = load("client"), load("records"), load("messages")
    cls = messages.MetadataResponse
    message = cls(controller_id=7)
    batch = records.encode_batch([(b"k", b"v")])
    [read] = records.decode_batches(batch)
    kafka = client.connect_sync("127.0.0.1:1")
    fetched = load("client.machines.scan.options").Fetched(
        "orders", 0, batch, 0, None, 1, 1, None
    )
    scan = kafka.scan("orders")
    values = SimpleNamespace(
        kwire=kwire,
        client=client,
        records=records,
        messages=messages,
        cls=cls,
        message=message,
        data=kwire.encode(message, version=12),
        record=read.records[0],
        columns=load("records.columns").decode_records(batch),
        kafka=kafka,
        awaited=client.connect("127.0.0.1:1"),
        scan=scan,
        chunk=load("client.chunks").Chunk(fetched, scan._decoding),
        consumer=kafka.consumer("orders", group_id="etl"),
        producer=kafka.producer(),
    )
    return vars(values)


def test_the_list_has_enough_guesses():
    """The tables contain at least 141 spellings.

    Without this test, removing spellings would make the other tests pass.
    """
    assert len(PYTHON) + len(WORKING) + len(COMMANDS) + len(SPARK) > 140


@pytest.mark.parametrize("spelling", PYTHON)
def test_the_error_of_a_first_guess_names_the_right_spelling(objects, spelling):
    # The compiled engine raises UnsupportedVersion if no version is passed.
    kinds = (AttributeError, TypeError, ValueError, objects["kwire"].KwireError)
    with pytest.raises(kinds) as caught:
        eval(spelling, dict(objects))
    assert PYTHON[spelling] in str(caught.value)


@pytest.mark.parametrize("spelling", WORKING)
def test_a_first_guess_that_works_still_works(objects, spelling):
    """Users may already depend on these spellings."""
    eval(spelling, dict(objects))


@pytest.mark.parametrize("line", COMMANDS)
def test_the_error_of_a_command_names_the_right_spelling(line):
    program = importlib.import_module("kwire.cli.main").program
    environment = {"KWIRE_BOOTSTRAP_SERVERS": None}
    result = CliRunner().invoke(program, line.split(), env=environment)
    assert result.exit_code == 2
    assert COMMANDS[line] in result.output


@pytest.mark.parametrize("name", SPARK)
def test_the_error_of_an_option_names_the_right_spelling(name):
    names = pytest.importorskip("kwire.spark.topics.option_names")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=re.escape(SPARK[name])):
            names.LIVE_OPTIONS.choose({name: "x"})


@pytest.mark.parametrize("page", IN_GUIDES)
def test_guides_list_the_spellings_whose_errors_are_of_python(page):
    text = (GUIDES / page).read_text("utf-8")
    assert [spelling for spelling in IN_GUIDES[page] if spelling not in text] == []


def test_foreign_names_are_not_listed_as_attributes(objects):
    for owner, key in (
        ("kafka", "Kafka"),
        ("awaited", "Kafka"),
        ("scan", "Scan"),
        ("chunk", "Chunk"),
        ("consumer", "Consumer"),
        ("producer", "Producer"),
    ):
        assert set(dir(objects[owner])).isdisjoint(ATTRIBUTES[key])
        assert not any(hasattr(objects[owner], name) for name in ATTRIBUTES[key])


def test_errors_of_functions_that_have_started_are_not_changed(objects):
    """Only an error about the arguments of a call gets a hint.

    If the function itself raises an error, its text is unchanged.
    """
    with pytest.raises(TypeError, match=r"^topics must be a name[^;]*$"):
        objects["kafka"].scan(7)


def test_coroutine_functions_remain_coroutine_functions(kwire, objects):
    """A method with a hint for wrong arguments is still a coroutine function.

    Frameworks inspect this property to decide whether they must await the result.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")
    for method in (client.Consumer.poll, client.Kafka.create_topics):
        assert inspect.iscoroutinefunction(method)
    assert not inspect.iscoroutinefunction(client.ConsumerSync.poll)
    with pytest.raises(TypeError, match="use timeout_s="):
        asyncio.run(objects["awaited"].consumer("orders", group_id="g").poll(timeout=1))


def test_fields_of_messages_may_have_the_names_of_other_codecs(kwire):
    schema = importlib.import_module(f"{kwire.__name__}.messages")
    text = (
        '{"apiKey": 900, "type": "request", "name": "ReadRequest", "validVersions":'
        ' "0", "flexibleVersions": "none", "fields": [{"name": "Read", "type":'
        ' "int32", "versions": "0+", "about": "-"}]}'
    )
    cls = schema.message_class(text)
    assert cls(read=3).read == 3
    with pytest.raises(AttributeError, match=r"kwire\.encode"):
        assert cls.write


@pytest.mark.parametrize("table", [*ATTRIBUTES.values(), *ARGUMENTS.values()])
def test_each_advice_is_a_part_of_a_sentence(table):
    """Every advice starts in lower case and has no final period.

    It is appended to the text of an error.
    """
    for advice in table.values():
        assert advice[0].islower() and not advice.endswith(".")


def test_commands_of_other_tools_have_commands_of_kwire():
    """Every hint for a command of another tool names a command of kwire."""
    program = importlib.import_module("kwire.cli.main").program
    names = {*program.list_commands(None), "--help"}
    assert set(OTHER_COMMANDS.values()) <= names
    assert names.isdisjoint(OTHER_COMMANDS)
