// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;

/**
 * Serves kafka-clients to benchmarks/languages: checks, loops and memory.
 *
 * It reads requests from standard input, a line each, ACTION LIBRARY OPERATION CASE
 * [LOOPS], and answers with a line. The parent reads the clock.
 */
public final class Languages {
    private static final int KEPT = 100;

    /** What a loop makes is kept here, so that no call of it can be left out. */
    private static volatile Object sink;

    /** Of all fields that a loop has read. */
    private static long total;

    /** What one call does, and how its result is added to a checksum. */
    private record Work(Supplier<Object> run, BiConsumer<Object, Sum> add) {
    }

    private interface Reader {
        ApiMessage read(ByteBufferAccessor accessor, short version);
    }

    private Languages() {
    }

    private static Work message(int version, byte[] data, String operation, Reader reader) {
        Supplier<Object> decode = () ->
            reader.read(new ByteBufferAccessor(ByteBuffer.wrap(data)), (short) version);
        if (operation.equals("decode")) {
            return new Work(decode, (found, sum) -> Fields.add((ApiMessage) found, sum));
        }
        ApiMessage ready = (ApiMessage) decode.get();
        return new Work(
            () -> MessageUtil.toByteBufferAccessor(ready, (short) version).buffer(),
            (found, sum) -> sum.data((ByteBuffer) found));
    }

    /** A batch, and what was read of its records: they are decoded while it is read. */
    private record Records(MemoryRecords batches, long read) {
    }

    private static long read(Record record) {
        ByteBuffer key = record.key();
        ByteBuffer value = record.value();
        return record.offset() + record.timestamp() + (key == null ? 0 : key.remaining())
            + (value == null ? 0 : value.remaining()) + record.headers().length;
    }

    private static Records readRecords(byte[] data) {
        MemoryRecords batches = MemoryRecords.readableRecords(ByteBuffer.wrap(data));
        long read = 0;
        for (RecordBatch batch : batches.batches()) {
            batch.ensureValid();
            for (Record record : batch) {
                read += read(record);
            }
        }
        return new Records(batches, read);
    }

    private static void addRecords(Iterable<? extends Record> records, Sum sum) {
        for (Record record : records) {
            sum.number(record.offset());
            sum.number(record.timestamp());
            sum.data(record.key());
            sum.data(record.value());
            sum.number(record.headers().length);
        }
    }

    /** As {@link #readRecords}, and keeps all records. */
    private static List<Record> keepRecords(byte[] data) {
        MemoryRecords batches = MemoryRecords.readableRecords(ByteBuffer.wrap(data));
        List<Record> kept = new ArrayList<>();
        for (RecordBatch batch : batches.batches()) {
            batch.ensureValid();
            for (Record record : batch) {
                kept.add(record);
            }
        }
        long read = 0;
        for (Record record : kept) {
            read += read(record);
        }
        total += read;
        return kept;
    }

    @SuppressWarnings("unchecked")
    private static Work find(String library, String operation, String name, byte[] data) {
        boolean list = library.equals("kafka-clients-list");
        if (operation.equals("records") && list) {
            return new Work(
                () -> keepRecords(data),
                (found, sum) -> addRecords((List<Record>) found, sum));
        }
        if (operation.equals("records")) {
            return new Work(
                () -> readRecords(data),
                (found, sum) -> ((Records) found).batches().batches()
                    .forEach(batch -> addRecords(batch, sum)));
        }
        if (list) {
            return null;
        }
        return switch (name) {
            case "api_versions_v3" -> message(3, data, operation, ApiVersionsResponseData::new);
            case "metadata_v9_ids" -> message(9, data, operation, MetadataResponseData::new);
            case "fetch_v12" -> message(12, data, operation, FetchResponseData::new);
            case "produce_v9" -> message(9, data, operation, ProduceRequestData::new);
            case "offset_fetch_v8" -> message(8, data, operation, OffsetFetchResponseData::new);
            case "heartbeat_v4" -> message(4, data, operation, HeartbeatRequestData::new);
            default -> null;
        };
    }

    private static long used() {
        for (int number = 0; number < 3; number++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /**
     * Returns the bytes that a result keeps, and the bytes that one call allocates: none
     * of those is freed before the next collection.
     */
    private static String memory(Supplier<Object> run) {
        run.get();
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Object[] held = new Object[KEPT];
        long before = used();
        long allocated = threads.getCurrentThreadAllocatedBytes();
        for (int index = 0; index < KEPT; index++) {
            held[index] = run.get();
        }
        allocated = (threads.getCurrentThreadAllocatedBytes() - allocated) / KEPT;
        long left = (used() - before) / KEPT;
        sink = held;
        return left + " " + allocated;
    }

    public static void main(String[] arguments) throws IOException {
        Map<String, byte[]> inputs = new HashMap<>();
        Map<String, Work> works = new HashMap<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            String operation = words[2];
            String name = words[3];
            if (!inputs.containsKey(name)) {
                inputs.put(name, Files.readAllBytes(Path.of(arguments[0], name + ".bin")));
            }
            byte[] data = inputs.get(name);
            Work work = works.computeIfAbsent(
                words[1] + " " + operation + " " + name,
                key -> find(words[1], operation, name, data));
            switch (work == null ? "none" : words[0]) {
                case "none" -> System.out.println("none");
                case "check" -> {
                    Sum sum = new Sum();
                    work.add().accept(work.run().get(), sum);
                    System.out.println(String.format("%016x", sum.value));
                }
                case "memory" -> System.out.println(memory(work.run()));
                default -> {
                    int loops = Integer.parseInt(words[4]);
                    for (int number = 0; number < loops; number++) {
                        sink = work.run().get();
                    }
                    System.out.println(loops);
                }
            }
            System.out.flush();
        }
    }
}
