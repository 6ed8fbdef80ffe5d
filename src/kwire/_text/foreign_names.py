# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Names from other Kafka clients and libraries, and their equivalents in kwire.

``name_advice`` reads these tables when it creates an error. A single entry matches
``group_id``, ``group.id`` and ``groupId``. The advice is appended to the error message:
"KafkaSync has no attribute 'list_topics'; use kafka.topics()".
"""

from __future__ import annotations

_DECODE = "use kwire.decode(MetadataResponse, data, version=12)"
_ENCODE = "use kwire.encode(message, version=12)"
_CONNECT = (
    'use kwire.client.connect_sync("host:9092"), or connect with asyncio; both return a'
    " client, here called kafka"
)
_CONSUME = (
    "connect with kwire.client.connect_sync, and read with kafka.scan(...), or with"
    ' kafka.consumer("orders", group_id="etl") in a group; for kafka-python and'
    " aiokafka see kwire.client.adapters"
)
_PRODUCE = (
    "connect with kwire.client.connect_sync, and write with kafka.producer(); for"
    " kafka-python and aiokafka see kwire.client.adapters"
)
_MANAGE = (
    "connect with kwire.client.connect_sync: the client has topics(), create_topics(),"
    " configs(), groups() and request()"
)
_BATCHES = "use kwire.records.decode_batches(data)"
_SCAN = 'use kafka.scan("orders"), or kafka.consumer("orders", group_id="etl")'
_TOPICS = "use kafka.topics()"
_OFFSETS = 'use kafka.offsets("orders", at="latest"), "earliest" or a datetime'
_GROUPS = 'use kafka.groups(), or kafka.describe_group("etl")'
_PRODUCER = "use kafka.producer(), which has send, send_many and send_table"
_TRANSACTION = (
    'use "with producer.transaction():" and kafka.producer(transactional_id="...")'
)
_TRANSACTION_ENDS = f"{_TRANSACTION}; its block ends the transaction"
_CHOSEN_FIRST = 'pass topics to kafka.consumer("orders", group_id="etl")'
_CHUNKS = 'use "for chunk in consumer", then chunk.records() or chunk.to_arrow()'
_RECORDS = "iterate over scan.records() for single records: a scan returns chunks"
_TABLE = "use pyarrow.table(scan)"
_AUTOMATIC = "leave it out: records are sent automatically, and flush() waits for them"

_CONSUMERS = ("Consumer", "KafkaConsumer", "AIOKafkaConsumer", "DeserializingConsumer")
_PRODUCERS = ("Producer", "KafkaProducer", "AIOKafkaProducer", "SerializingProducer")
_ADMINS = ("AdminClient", "KafkaAdminClient", "AIOKafkaAdminClient", "Admin")
_CLIENTS = ("Client", "KafkaClient", "AIOKafkaClient")

ATTRIBUTES: dict[str, dict[str, str]] = {
    "kwire": {
        **dict.fromkeys(("loads", "load", "parse", "read", "deserialize"), _DECODE),
        **dict.fromkeys(("decode_message", "unpack", "entity_reader"), _DECODE),
        **dict.fromkeys(("dumps", "dump", "write", "serialize"), _ENCODE),
        **dict.fromkeys(("encode_message", "pack", "entity_writer"), _ENCODE),
        **dict.fromkeys(_CONSUMERS, _CONSUME),
        **dict.fromkeys(_PRODUCERS, _PRODUCE),
        **dict.fromkeys(_ADMINS, _MANAGE),
        **dict.fromkeys((*_CLIENTS, "kafka", "connect", "connect_sync"), _CONNECT),
        "scan": _CONNECT,
        **dict.fromkeys(("Record", "RecordBatch"), "use kwire.records"),
        **dict.fromkeys(("decode_records", "decode_batches"), _BATCHES),
        "arrow": "use kwire.records.arrow or kwire.messages.arrow",
        **{
            name: f"use kwire.messages.{name}"
            for name in ("wire", "framing", "internal_topics")
        },
        **{name: f"use kwire.connection.{name}" for name in ("sasl", "negotiation")},
        **{name: f"use kwire.records.{name}" for name in ("columns", "partitioners")},
        "adapters": "use kwire.client.adapters",
    },
    "kwire.client": {
        **dict.fromkeys(_CONSUMERS, _CONSUME),
        **dict.fromkeys(_PRODUCERS, _PRODUCE),
        **dict.fromkeys(_ADMINS, _MANAGE),
        **dict.fromkeys((*_CLIENTS, "connect_async", "aconnect", "open"), _CONNECT),
        "TopicPartition": 'use a tuple: ("orders", 0)',
        "OffsetAndMetadata": 'use a dict: {("orders", 0): 42}',
        "NewTopic": 'use kafka.create_topics({"orders": 3}), with the partition count',
        "ConsumerRebalanceListener": "use on_assigned= and on_lost= of kafka.consumer",
        **dict.fromkeys(("KafkaError", "KafkaException"), "use ClusterError"),
        "Message": "use ConsumerRecord",
    },
    "kwire.records": {
        **dict.fromkeys(("decode", "parse", "read", "loads"), _BATCHES),
        **dict.fromkeys(("MemoryRecords", "DefaultRecordBatch"), _BATCHES),
        **dict.fromkeys(
            ("encode", "write", "dumps", "DefaultRecordBatchBuilder"),
            "use kwire.records.encode_batch(rows), or BatchBuilder",
        ),
        "RecordBatch": "use Batch",
        "to_arrow": "use kwire.records.arrow.records_to_arrow(data)",
        "records_to_arrow": "use kwire.records.arrow.records_to_arrow(data)",
    },
    "Kafka": {
        "create_topic": 'use kafka.create_topics({"orders": 3})',
        "delete_topic": 'use kafka.delete_topics(["orders"])',
        **dict.fromkeys(("list_topics", "describe_topics", "describe_topic"), _TOPICS),
        **dict.fromkeys(("topic", "metadata", "cluster_metadata"), _TOPICS),
        "partitions_for_topic": 'use kafka.topics()["orders"].partitions',
        "partitions": 'use kafka.topics()["orders"].partitions',
        "create_partitions": "use kafka.add_partitions(...)",
        **dict.fromkeys(("list_groups", "list_consumer_groups"), _GROUPS),
        **dict.fromkeys(("consumer_groups", "describe_groups"), _GROUPS),
        "describe_consumer_groups": _GROUPS,
        "delete_consumer_groups": 'use kafka.delete_groups("etl")',
        "describe_configs": 'use kafka.configs("topic", "orders")',
        **dict.fromkeys(
            ("alter_configs", "incremental_alter_configs", "set_config"),
            'use kafka.set_configs("topic", "orders", {...})',
        ),
        **dict.fromkeys(("offsets_for_times", "list_offsets", "end_offsets"), _OFFSETS),
        **dict.fromkeys(("beginning_offsets", "get_watermark_offsets"), _OFFSETS),
        **dict.fromkeys(
            ("committed", "list_consumer_group_offsets"),
            'use kafka.group_offsets("etl")',
        ),
        "alter_consumer_group_offsets": 'use kafka.set_group_offsets("etl", {...})',
        **dict.fromkeys(("subscribe", "assign", "poll", "consume", "read"), _SCAN),
        **dict.fromkeys(("fetch", "table", "read_table", "getmany"), _SCAN),
        **dict.fromkeys(("send", "send_many", "produce", "write", "flush"), _PRODUCER),
        **dict.fromkeys(("send_and_wait", "send_table"), _PRODUCER),
        **dict.fromkeys(("transaction", "begin_transaction"), _TRANSACTION),
        "admin": "call it on the client itself, such as kafka.topics()",
        "brokers": "use kafka.broker_versions()",
        "describe_cluster": "use kafka.broker_versions()",
        "start": "leave it out: the client connects on first use",
        "stop": "use kafka.close(), or a with block",
    },
    "Scan": {
        "to_pandas": "use pyarrow.table(scan).to_pandas()",
        "df": "use pyarrow.table(scan).to_pandas()",
        **dict.fromkeys(("to_arrow", "to_table", "read_all", "arrow", "table"), _TABLE),
        "to_polars": "use polars.DataFrame(scan)",
        "pl": "use polars.DataFrame(scan)",
        **dict.fromkeys(
            ("to_list", "fetchall", "collect", "messages"), "use list(scan.records())"
        ),
        "schema": "use pyarrow.table(scan).schema",
        "seek": 'use kafka.scan("orders", start=...)',
        "commit": 'use kafka.consumer("orders", group_id="etl")',
        **dict.fromkeys(
            ("poll", "consume", "getmany", "next"),
            'use "for chunk in scan", or "for record in scan.records()"',
        ),
        "iter_records": "use scan.records()",
    },
    "Consumer": {
        **dict.fromkeys(("subscribe", "assign"), _CHOSEN_FIRST),
        **dict.fromkeys(("consume", "getmany", "fetch", "read"), _CHUNKS),
        "getone": 'use "for record in consumer.records()"',
        "messages": "use consumer.records()",
        "committed": 'use kafka.group_offsets("etl")',
        "seek_to_beginning": 'use consumer.seek("earliest")',
        "seek_to_end": 'use consumer.seek("latest")',
        **dict.fromkeys(("commit_async", "commit_sync"), "use consumer.commit(chunk)"),
        **dict.fromkeys(("store_offsets", "ack"), "use consumer.commit(chunk)"),
        **dict.fromkeys(("unsubscribe", "stop"), "use consumer.close()"),
        "start": "leave it out: the consumer joins with the first chunk",
        **dict.fromkeys(("to_arrow", "to_pandas"), _CHUNKS),
        **dict.fromkeys(
            ("offsets_for_times", "end_offsets", "beginning_offsets"), _OFFSETS
        ),
    },
    "Producer": {
        "produce": 'use producer.send("orders", key=..., value=...)',
        **dict.fromkeys(
            ("send_and_wait", "send_batch", "write", "produce_batch"),
            'use producer.send_many("orders", records), which waits and returns'
            " receipts",
        ),
        "poll": _AUTOMATIC,
        "init_transactions": _TRANSACTION,
        "begin_transaction": _TRANSACTION,
        "commit_transaction": _TRANSACTION_ENDS,
        "abort_transaction": _TRANSACTION_ENDS,
        "send_offsets_to_transaction": "use transaction.send_offsets(consumer, chunk)",
        "partitions_for": 'use kafka.topics()["orders"].partitions',
        "start": "leave it out: the producer connects with the first record",
        "stop": "use producer.close(), or a with block",
    },
    "Chunk": {
        **dict.fromkeys(("key", "value", "offset", "timestamp", "headers"), _RECORDS),
        "error": "leave it out: errors are exceptions",
        "messages": "use chunk.records()",
        "to_pandas": "use chunk.to_arrow().to_pandas()",
        "to_polars": "use polars.DataFrame(chunk.columns)",
    },
    "Records": {
        **dict.fromkeys(
            ("to_pandas", "to_arrow", "to_polars"),
            "pass the records to pyarrow.record_batch, or to polars.DataFrame",
        ),
        "records": "use kwire.records.decode_records(data) for objects",
        "keys": "use key",
        "values": "use value",
    },
    "message": {
        **dict.fromkeys(
            ("decode", "read", "parse", "loads", "from_bytes", "deserialize"), _DECODE
        ),
        **dict.fromkeys(("encode", "write", "dumps", "to_bytes", "serialize"), _ENCODE),
        **dict.fromkeys(
            ("to_json", "from_json"), "use kwire.to_json(message, version=12)"
        ),
        "api_version": "use valid_versions",
    },
}
"""Advice by module or class name, and then by the missing attribute.

The key "message" applies to all classes in ``kwire.messages``.
"""

ARGUMENTS: dict[str, dict[str, str]] = {
    "connect": {
        **dict.fromkeys(
            ("bootstrap_servers", "brokers", "hosts", "servers", "port", ""),
            'pass the addresses as the first argument: connect_sync("host:9092")',
        ),
        **dict.fromkeys(
            ("group_id", "group"), 'use kafka.consumer("orders", group_id="etl")'
        ),
        "topics": 'use kafka.scan("orders")',
        "ssl_context": "use ssl=",
        "api_version": "leave it out, or use fallback= for brokers before 0.10",
        "username": "use sasl=",
        "password": "use sasl=",
    },
    "scan": {
        "partitions": 'use topics={"orders": [0, 1]}',
        "partition": 'use topics={"orders": [0]}',
        "limit": "leave the loop when there are enough records, or use end=",
        "max_records": "leave the loop when there are enough records, or use end=",
        "max_poll_records": "use batch_rows=",
        "pattern": "pass a compiled pattern as topics: re.compile(...)",
        "group_id": 'use kafka.consumer("orders", group_id="etl")',
        **dict.fromkeys(("start_offset", "starting_offsets", "from"), "use start="),
        **dict.fromkeys(("end_offset", "ending_offsets", "to"), "use end="),
        **dict.fromkeys(
            ("timeout", "consumer_timeout_ms"), "use timeout_s= of connect"
        ),
    },
    "consumer": {
        "": 'without a group, use kafka.scan("orders")',
        "group": "use group_id=",
        "enable_auto_commit": (
            "leave it out: nothing is committed but by consumer.commit(chunk)"
        ),
        "auto_commit_interval_ms": (
            "leave it out: nothing is committed but by consumer.commit(chunk)"
        ),
        "max_poll_records": "use batch_rows=",
        "starting_offsets": "use start=",
        **dict.fromkeys(("on_assign", "listener"), "use on_assigned= and on_lost="),
        **dict.fromkeys(("on_revoke", "on_partitions_revoked"), "use on_lost="),
    },
    "producer": {
        "compression_type": "use compression=",
        "batch_size": "use max_batch_bytes=",
        "max_request_size": "use max_request_bytes=",
        "buffer_memory": "use memory_bytes=",
        "enable_idempotence": "use idempotent=",
        "retries": "leave it out: records are retried for delivery_timeout_s",
        **dict.fromkeys(("on_delivery", "callback"), "use on_receipt="),
    },
    "create_topics": {
        **dict.fromkeys(
            ("num_partitions", "partitions"),
            'pass the count with the name: create_topics({"orders": 3})',
        ),
        "config": "use configs=",
        "topic_configs": "use configs=",
    },
    "poll": {
        "timeout": "use timeout_s=",
        "timeout_ms": "use timeout_s=, in seconds",
        "max_records": "use batch_rows= of kafka.consumer",
    },
    "Kafka": dict.fromkeys(
        ("", "bootstrap_servers"),
        'use client.connect_sync("host:9092"), or connect with asyncio',
    ),
    "Scan": {"": 'use kafka.scan("orders")'},
    "Consumer": dict.fromkeys(
        ("", "bootstrap_servers", "group_id"),
        'use kafka.consumer("orders", group_id="etl") of a client',
    ),
    "Producer": dict.fromkeys(
        ("", "bootstrap_servers"), "use kafka.producer() of a client"
    ),
}
"""Advice by function or class name, and then by the unsupported keyword argument.

The key "" applies to all other errors, for example a missing argument.
"""

ALL_ARGUMENTS: dict[str, str] = {
    "isolation": "use isolation_level=",
    "auto_offset_reset": 'use start="earliest" or start="latest"',
    "client_rack": "use rack=",
    "rack_id": "use rack=",
    **dict.fromkeys(
        (
            "value_deserializer",
            "key_deserializer",
            "value_serializer",
            "key_serializer",
        ),
        "convert keys and values yourself: they are bytes",
    ),
    **dict.fromkeys(
        (
            "security_protocol",
            "sasl_mechanism",
            "sasl_plain_username",
            "sasl_plain_password",
        ),
        'use ssl= and sasl= of connect, or config={"security.protocol": ...}',
    ),
    **dict.fromkeys(
        ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname"),
        "use ssl= with an ssl.SSLContext, or config= with Kafka's property names",
    ),
}
"""Advice by unsupported keyword argument. It applies to all functions."""

COMMANDS: dict[str, str] = {
    **dict.fromkeys(("consume", "console-consumer", "consumer", "tail"), "read"),
    **dict.fromkeys(("cat", "get", "fetch", "poll"), "read"),
    **dict.fromkeys(("produce", "console-producer", "producer", "send"), "write"),
    **dict.fromkeys(("put", "publish"), "write"),
    **dict.fromkeys(("list", "metadata", "describe", "create"), "topics"),
    **dict.fromkeys(("consumer-groups", "lag"), "groups"),
    "broker-api-versions": "versions",
    "parse": "decode",
    **dict.fromkeys(("dump-log", "kafka-dump-log"), "dump"),
    "import": "restore",
    "help": "--help",
}
"""Equivalent kwire command by the command name of another tool."""

_ADDRESS = "the address is the first argument: kwire topics HOST:PORT"
_TOPIC = "topics follow the address: kwire read HOST:PORT TOPIC"
_CONFIG = "use --config FILE"
_IS_DEFAULT = "leave it out: the command does this by default"

OPTIONS: dict[str, str] = {
    **dict.fromkeys(("bootstrap-server", "bootstrap-servers", "broker-list"), _ADDRESS),
    **dict.fromkeys(("broker", "brokers", "b"), _ADDRESS),
    **dict.fromkeys(("topic", "t"), _TOPIC),
    "from-beginning": "leave it out, or use --from earliest, which is the default",
    **dict.fromkeys(("max-messages", "count", "c"), "use --limit N"),
    **dict.fromkeys(
        ("group", "group-id", "G"), "leave it out: no consumer group is involved"
    ),
    **dict.fromkeys(("command-config", "consumer-config"), _CONFIG),
    **dict.fromkeys(("producer-config", "X", "F"), _CONFIG),
    **dict.fromkeys(("json", "J"), "use --format jsonl"),
    "e": "leave it out: the command stops at the end, unless --follow is passed",
    **dict.fromkeys(("describe", "list", "L"), _IS_DEFAULT),
    "offset": "use --from POSITION",
    "files": "the files are arguments without a name: kwire dump PATH",
}
"""Advice by the option name of another tool, without dashes.

Only single-letter options are case-sensitive.
"""

SPARK_OPTIONS: dict[str, str] = {
    **dict.fromkeys(("topic", "topics"), "use subscribe"),
    "auto_offset_reset": "use startingOffsets",
    "offset": "use startingOffsets",
}
"""Advice by unsupported option name, for the Spark formats of topics."""
