// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

package kwire.oracle.records;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
// Record classes and buffers are in the second package of each pair since 4.3.
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.utils.*;
import org.apache.kafka.common.utils.internals.*;

/**
 * What Kafka's record classes say, as JSON lines: each line asks for one thing, and gets one line back. What is
 * asked for and what becomes of the answers is decided in records.py; control records are in ControlRecords.
 */
public final class Records {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private static final short NEWEST_PRODUCE = 9;
    private static final int MAGIC_AT = 16;

    private Records() {
    }

    public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            switch (asked.get("do").asText()) {
                case "write" -> answer.put("bytes", write(asked));
                case "control" -> answer.put("bytes", ControlRecords.write(asked));
                case "empty" -> answer.put("bytes", writeEmpty(asked));
                case "convert" -> convert(asked, answer);
                case "repair" -> answer.put("bytes", repair(asked.get("bytes").binaryValue()));
                case "read" -> read(asked, answer);
                default -> throw new IllegalArgumentException(line);
            }
            OUT.print(JSON.writeValueAsString(answer) + "\n");
        }
        OUT.flush();
    }

    /** One batch, or messages of magic 0 or 1, of the records that are asked for. */
    private static byte[] write(JsonNode asked) throws IOException {
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
            new ByteBufferOutputStream(1024),
            (byte) asked.get("magic").asInt(),
            Compression.of(asked.get("compression").asText()).build(),
            timestampType(asked),
            asked.get("base_offset").asLong(),
            asked.get("log_append_time").asLong(-1),
            asked.get("producer_id").asLong(),
            (short) asked.get("producer_epoch").asInt(),
            asked.get("base_sequence").asInt(),
            asked.get("is_transactional").asBoolean(),
            false,
            asked.get("partition_leader_epoch").asInt(),
            Integer.MAX_VALUE,
            asked.get("delete_horizon").asLong(-1));
        for (JsonNode row : asked.get("records")) {
            builder.appendWithOffset(
                row.get("offset").asLong(),
                row.get("timestamp").asLong(),
                row.get("key").binaryValue(),
                row.get("value").binaryValue(),
                headers(row.get("headers")));
        }
        if (!asked.get("last_offset").isNull()) {
            builder.overrideLastOffset(asked.get("last_offset").asLong());
        }
        return bytes(builder.build().buffer());
    }

    /** What log cleaning leaves of a batch without records. */
    private static byte[] writeEmpty(JsonNode asked) {
        ByteBuffer buffer = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(
            buffer,
            RecordBatch.MAGIC_VALUE_V2,
            asked.get("producer_id").asLong(),
            (short) asked.get("producer_epoch").asInt(),
            asked.get("base_sequence").asInt(),
            asked.get("base_offset").asLong(),
            asked.get("last_offset").asLong(),
            asked.get("partition_leader_epoch").asInt(),
            timestampType(asked),
            asked.get("max_timestamp").asLong(),
            asked.get("is_transactional").asBoolean(),
            asked.get("is_control").asBoolean());
        return buffer.array();
    }

    /** Found by name, as only old releases convert down. */
    private static void convert(JsonNode asked, ObjectNode answer) throws IOException, ReflectiveOperationException {
        try {
            Object converted = MemoryRecords.class.getMethod("downConvert", byte.class, long.class, Time.class).invoke(
                records(asked), (byte) asked.get("magic").asInt(), asked.get("start_offset").asLong(), Time.SYSTEM);
            MemoryRecords records = (MemoryRecords) converted.getClass().getMethod("records").invoke(converted);
            answer.put("bytes", bytes(records.buffer()));
        } catch (InvocationTargetException e) {
            answer.put("error", e.getCause().getClass().getSimpleName());
        }
    }

    /** Writes the right checksum into every entry that is whole. */
    private static byte[] repair(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        int start = 0;
        while (bytes.length - start > DefaultRecordBatch.CRC_OFFSET + 4) {
            int size = buffer.getInt(start + 8);
            if (size < 14 || size > bytes.length - start - 12) {
                break;
            }
            boolean batch = bytes[start + MAGIC_AT] > 1;
            int place = start + (batch ? DefaultRecordBatch.CRC_OFFSET : 12);
            int from = batch ? place + 4 : start + MAGIC_AT;
            Checksum sum = batch ? new CRC32C() : new CRC32();
            if (from < start + 12 + size) {
                sum.update(bytes, from, start + 12 + size - from);
                buffer.putInt(place, (int) sum.getValue());
            }
            start += 12 + size;
        }
        return bytes;
    }

    /** All that Kafka reads, until it refuses something, and whether a broker would take it from a producer. */
    private static void read(JsonNode asked, ObjectNode answer) throws IOException {
        ArrayNode batches = answer.putArray("batches");
        try {
            for (RecordBatch batch : records(asked).batches()) {
                batches.add(read(batch));
            }
        } catch (RuntimeException | Error e) {
            // The library for snappy throws errors of its own.
            answer.put("error", e.getClass().getSimpleName());
            if (asked.has("explain")) {
                answer.put("why", e.toString());
            }
        }
        try {
            ProduceRequest.validateRecords(NEWEST_PRODUCE, records(asked));
            answer.put("producible", true);
        } catch (RuntimeException | Error e) {
            answer.put("producible", false);
        }
    }

    private static ObjectNode read(RecordBatch batch) throws IOException {
        batch.ensureValid();
        ObjectNode one = JSON.createObjectNode();
        one.put("magic", batch.magic()).put("size", batch.sizeInBytes()).put("crc", batch.checksum());
        one.put("compression", batch.compressionType().name).put("timestamp_type", batch.timestampType().id);
        one.put("base_offset", batch.baseOffset()).put("last_offset", batch.lastOffset());
        one.put("next_offset", batch.nextOffset()).put("max_timestamp", batch.maxTimestamp());
        one.put("count", batch.countOrNull());
        one.put("producer_id", batch.producerId()).put("producer_epoch", batch.producerEpoch());
        one.put("base_sequence", batch.baseSequence()).put("last_sequence", batch.lastSequence());
        one.put("partition_leader_epoch", batch.partitionLeaderEpoch());
        one.put("is_transactional", batch.isTransactional()).put("is_control", batch.isControlBatch());
        Long horizon = batch.deleteHorizonMs().isPresent() ? batch.deleteHorizonMs().getAsLong() : null;
        one.put("delete_horizon", horizon);
        one.put("base_timestamp", batch instanceof DefaultRecordBatch b ? b.baseTimestamp() : batch.maxTimestamp());
        ArrayNode rows = one.putArray("records");
        // Not by its name, which is also that of a class of Java itself.
        try (var records = batch.streamingIterator(BufferSupplier.create())) {
            while (records.hasNext()) {
                var record = records.next();
                record.ensureValid();
                ObjectNode row = rows.addObject();
                row.put("offset", record.offset()).put("timestamp", record.timestamp());
                row.put("key", bytes(record.key())).put("value", bytes(record.value()));
                ArrayNode headers = row.putArray("headers");
                for (Header header : record.headers()) {
                    headers.addArray().add(header.key()).add(header.value());
                }
            }
        }
        if (batch.isControlBatch()) {
            one.set("control_records", ControlRecords.read(batch));
        }
        return one;
    }

    private static MemoryRecords records(JsonNode asked) throws IOException {
        return MemoryRecords.readableRecords(ByteBuffer.wrap(asked.get("bytes").binaryValue()));
    }

    private static Header[] headers(JsonNode pairs) throws IOException {
        Header[] headers = new Header[pairs.size()];
        for (int number = 0; number < headers.length; number++) {
            JsonNode pair = pairs.get(number);
            headers[number] = new RecordHeader(pair.get(0).asText(), pair.get(1).binaryValue());
        }
        return headers;
    }

    private static TimestampType timestampType(JsonNode asked) {
        if (asked.get("magic").asInt() == 0) {
            return TimestampType.NO_TIMESTAMP_TYPE;
        }
        return asked.get("log_append_time").isNull() ? TimestampType.CREATE_TIME : TimestampType.LOG_APPEND_TIME;
    }

    static byte[] bytes(ByteBuffer buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }
}
