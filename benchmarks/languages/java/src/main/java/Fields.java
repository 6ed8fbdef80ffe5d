// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;

/** Adds the fields of a message to a checksum. */
final class Fields {
    private Fields() {
    }

    static void add(ApiMessage message, Sum sum) {
        if (message instanceof ApiVersionsResponseData data) {
            add(data, sum);
        } else if (message instanceof MetadataResponseData data) {
            add(data, sum);
        } else if (message instanceof FetchResponseData data) {
            add(data, sum);
        } else if (message instanceof ProduceRequestData data) {
            add(data, sum);
        } else if (message instanceof OffsetFetchResponseData data) {
            add(data, sum);
        } else if (message instanceof HeartbeatRequestData data) {
            add(data, sum);
        } else {
            throw new IllegalArgumentException(message.getClass().getName());
        }
    }

    private static void records(BaseRecords records, Sum sum) {
        sum.data(records == null ? null : ((MemoryRecords) records).buffer());
    }

    private static void add(ApiVersionsResponseData data, Sum sum) {
        sum.number(data.errorCode());
        sum.number(data.apiKeys().size());
        for (ApiVersionsResponseData.ApiVersion key : data.apiKeys()) {
            sum.number(key.apiKey());
            sum.number(key.minVersion());
            sum.number(key.maxVersion());
        }
        sum.number(data.throttleTimeMs());
    }

    private static void add(MetadataResponseData data, Sum sum) {
        sum.number(data.throttleTimeMs());
        sum.number(data.brokers().size());
        for (MetadataResponseData.MetadataResponseBroker broker : data.brokers()) {
            sum.number(broker.nodeId());
            sum.text(broker.host());
            sum.number(broker.port());
            sum.text(broker.rack());
        }
        sum.text(data.clusterId());
        sum.number(data.controllerId());
        sum.number(data.topics().size());
        for (MetadataResponseData.MetadataResponseTopic topic : data.topics()) {
            sum.number(topic.errorCode());
            sum.text(topic.name());
            sum.flag(topic.isInternal());
            sum.number(topic.partitions().size());
            for (MetadataResponseData.MetadataResponsePartition partition : topic.partitions()) {
                sum.number(partition.errorCode());
                sum.number(partition.partitionIndex());
                sum.number(partition.leaderId());
                sum.number(partition.leaderEpoch());
                sum.numbers(partition.replicaNodes());
                sum.numbers(partition.isrNodes());
                sum.numbers(partition.offlineReplicas());
            }
            sum.number(topic.topicAuthorizedOperations());
        }
        sum.number(data.clusterAuthorizedOperations());
    }

    private static void add(FetchResponseData data, Sum sum) {
        sum.number(data.throttleTimeMs());
        sum.number(data.errorCode());
        sum.number(data.sessionId());
        sum.number(data.responses().size());
        for (FetchResponseData.FetchableTopicResponse topic : data.responses()) {
            sum.text(topic.topic());
            sum.number(topic.partitions().size());
            for (FetchResponseData.PartitionData partition : topic.partitions()) {
                sum.number(partition.partitionIndex());
                sum.number(partition.errorCode());
                sum.number(partition.highWatermark());
                sum.number(partition.lastStableOffset());
                sum.number(partition.logStartOffset());
                sum.number(partition.abortedTransactions().size());
                sum.number(partition.preferredReadReplica());
                records(partition.records(), sum);
            }
        }
    }

    private static void add(ProduceRequestData data, Sum sum) {
        sum.text(data.transactionalId());
        sum.number(data.acks());
        sum.number(data.timeoutMs());
        sum.number(data.topicData().size());
        for (ProduceRequestData.TopicProduceData topic : data.topicData()) {
            sum.text(topic.name());
            sum.number(topic.partitionData().size());
            for (ProduceRequestData.PartitionProduceData partition : topic.partitionData()) {
                sum.number(partition.index());
                records(partition.records(), sum);
            }
        }
    }

    private static void add(OffsetFetchResponseData data, Sum sum) {
        sum.number(data.throttleTimeMs());
        sum.number(data.groups().size());
        for (OffsetFetchResponseData.OffsetFetchResponseGroup group : data.groups()) {
            sum.text(group.groupId());
            sum.number(group.topics().size());
            for (OffsetFetchResponseData.OffsetFetchResponseTopics topic : group.topics()) {
                sum.text(topic.name());
                sum.number(topic.partitions().size());
                for (OffsetFetchResponseData.OffsetFetchResponsePartitions partition
                        : topic.partitions()) {
                    sum.number(partition.partitionIndex());
                    sum.number(partition.committedOffset());
                    sum.number(partition.committedLeaderEpoch());
                    sum.text(partition.metadata());
                    sum.number(partition.errorCode());
                }
            }
            sum.number(group.errorCode());
        }
    }

    private static void add(HeartbeatRequestData data, Sum sum) {
        sum.text(data.groupId());
        sum.number(data.generationId());
        sum.text(data.memberId());
        sum.text(data.groupInstanceId());
    }
}
