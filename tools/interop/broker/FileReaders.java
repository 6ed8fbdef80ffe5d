// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import java.util.Scanner;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.metadata.properties.PropertiesUtils;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.checkpoint.PartitionMetadataFile;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.OffsetIndex;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.TimeIndex;
import org.apache.kafka.storage.internals.log.TransactionIndex;

/**
 * Reads the files beside segments with the broker's own classes.
 *
 * <p>Each line of the input is a kind, a file name and the content in base64. Each line of the
 * output is "ok" with what was read, as a list of numbers and words, or "error" with the exception.
 */
public final class FileReaders {
    private static final int INDEX_BYTES = 1 << 20;

    public static void main(String[] arguments) throws Exception {
        Path directory = Files.createTempDirectory("file-readers");
        StringBuilder out = new StringBuilder();
        try (Scanner lines = new Scanner(System.in)) {
            while (lines.hasNextLine()) {
                String[] fields = lines.nextLine().split(" ", -1);
                File file = directory.resolve(fields[1]).toFile();
                Files.write(file.toPath(), Base64.getDecoder().decode(fields[2]));
                out.append(judge(fields[0], file)).append('\n');
                Files.deleteIfExists(file.toPath());
            }
        }
        Files.delete(directory);
        System.out.print(out);
    }

    private static String judge(String kind, File file) {
        try {
            return "ok " + String.join(",", read(kind, file));
        } catch (Throwable error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            return "error " + cause.getClass().getSimpleName();
        }
    }

    private static List<String> read(String kind, File file) throws Exception {
        List<String> values = new ArrayList<>();
        LogDirFailureChannel failures = new LogDirFailureChannel(1);
        long base = kind.endsWith("index") ? Long.parseLong(file.getName().split("\\.")[0]) : 0;
        switch (kind) {
            case "offsets" -> {
                TreeMap<String, Long> sorted = new TreeMap<>();
                new OffsetCheckpointFile(file, failures)
                        .read()
                        .forEach((key, offset) -> sorted.put(key.topic() + " " + key.partition(), offset));
                sorted.forEach((key, offset) -> values.add(key + " " + offset));
            }
            case "epochs" -> new LeaderEpochCheckpointFile(file, failures)
                    .read()
                    .forEach(entry -> values.add(entry.epoch() + " " + entry.startOffset()));
            case "metadata" -> {
                var metadata = new PartitionMetadataFile(file, failures).read();
                values.add(metadata.version() + " " + metadata.topicId());
            }
            case "properties" -> {
                Properties properties = PropertiesUtils.readPropertiesFile(file.getAbsolutePath());
                for (String name : new TreeSet<>(properties.stringPropertyNames())) {
                    values.add(name + " " + properties.getProperty(name));
                }
            }
            case "index" -> {
                try (OffsetIndex index = new OffsetIndex(file, base, INDEX_BYTES, false)) {
                    index.sanityCheck();
                    for (int number = 0; number < index.entries(); number++) {
                        values.add(index.entry(number).offset() + " " + index.entry(number).position());
                    }
                }
            }
            case "timeindex" -> {
                try (TimeIndex index = new TimeIndex(file, base, INDEX_BYTES, false)) {
                    index.sanityCheck();
                    for (int number = 0; number < index.entries(); number++) {
                        values.add(index.entry(number).timestamp() + " " + index.entry(number).offset());
                    }
                }
            }
            case "txnindex" -> {
                try (TransactionIndex index = new TransactionIndex(base, file)) {
                    index.sanityCheck();
                    index.allAbortedTxns()
                            .forEach(entry -> values.add(entry.producerId() + " " + entry.firstOffset()
                                    + " " + entry.lastOffset() + " " + entry.lastStableOffset()));
                }
            }
            case "snapshot" -> ProducerStateManager.readSnapshot(file)
                    .forEach(entry -> values.add(entry.producerId() + " " + entry.producerEpoch()));
            default -> throw new IllegalArgumentException(kind);
        }
        return values;
    }
}
