// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

package kwire.oracle.records;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.ByteBuffer;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.KRaftVersionRecordJsonConverter;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.LeaderChangeMessageJsonConverter;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotFooterRecordJsonConverter;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecordJsonConverter;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.message.VotersRecordJsonConverter;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.record.internal.*;

/** Control batches, written and read: a type and, as JSON, its message. */
final class ControlRecords {
    private ControlRecords() {
    }

    static byte[] write(JsonNode asked) {
        long offset = asked.get("base_offset").asLong();
        long timestamp = asked.get("timestamp").asLong();
        int epoch = asked.get("partition_leader_epoch").asInt();
        ControlRecordType type = ControlRecordType.valueOf(asked.get("type").asText());
        JsonNode json = asked.get("message");
        short version = (short) asked.get("version").asInt();
        ByteBuffer buffer = ByteBuffer.allocate(1024);
        MemoryRecords records = switch (type) {
            case ABORT, COMMIT -> MemoryRecords.withEndTransactionMarker(
                offset,
                timestamp,
                epoch,
                asked.get("producer_id").asLong(),
                (short) asked.get("producer_epoch").asInt(),
                new EndTransactionMarker(type, json.get("coordinatorEpoch").asInt()));
            case LEADER_CHANGE -> MemoryRecords.withLeaderChangeMessage(
                offset, timestamp, epoch, buffer, LeaderChangeMessageJsonConverter.read(json, version));
            case SNAPSHOT_HEADER -> MemoryRecords.withSnapshotHeaderRecord(
                offset, timestamp, epoch, buffer, SnapshotHeaderRecordJsonConverter.read(json, version));
            case SNAPSHOT_FOOTER -> MemoryRecords.withSnapshotFooterRecord(
                offset, timestamp, epoch, buffer, SnapshotFooterRecordJsonConverter.read(json, version));
            case KRAFT_VERSION -> MemoryRecords.withKRaftVersionRecord(
                offset, timestamp, epoch, buffer, KRaftVersionRecordJsonConverter.read(json, version));
            case KRAFT_VOTERS -> MemoryRecords.withVotersRecord(
                offset, timestamp, epoch, buffer, VotersRecordJsonConverter.read(json, version));
            default -> throw new IllegalArgumentException(type.name());
        };
        return Records.bytes(records.buffer());
    }

    static ArrayNode read(RecordBatch batch) {
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        for (var record : batch) {
            ControlRecordType type = ControlRecordType.parse(record.key());
            ByteBuffer value = record.value();
            all.addObject().put("type", type.name()).set("message", switch (type) {
                case ABORT, COMMIT -> JsonNodeFactory.instance.objectNode()
                    .put("coordinatorEpoch", EndTransactionMarker.deserialize(record).coordinatorEpoch());
                case LEADER_CHANGE -> {
                    LeaderChangeMessage message = ControlRecordUtils.deserializeLeaderChangeMessage(value);
                    yield LeaderChangeMessageJsonConverter.write(message, message.version());
                }
                case SNAPSHOT_HEADER -> {
                    SnapshotHeaderRecord message = ControlRecordUtils.deserializeSnapshotHeaderRecord(value);
                    yield SnapshotHeaderRecordJsonConverter.write(message, message.version());
                }
                case SNAPSHOT_FOOTER -> {
                    SnapshotFooterRecord message = ControlRecordUtils.deserializeSnapshotFooterRecord(value);
                    yield SnapshotFooterRecordJsonConverter.write(message, message.version());
                }
                case KRAFT_VERSION -> {
                    KRaftVersionRecord message = ControlRecordUtils.deserializeKRaftVersionRecord(value);
                    yield KRaftVersionRecordJsonConverter.write(message, message.version());
                }
                case KRAFT_VOTERS -> {
                    VotersRecord message = ControlRecordUtils.deserializeVotersRecord(value);
                    yield VotersRecordJsonConverter.write(message, message.version());
                }
                default -> null;
            });
        }
        return all;
    }
}
