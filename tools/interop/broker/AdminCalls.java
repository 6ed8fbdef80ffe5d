// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.protocol.Errors;

/**
 * Runs calls of Kafka's Admin.
 *
 * <p>The argument is the address of the brokers. Each line of the input is a JSON array: the name
 * of a call, and its arguments. Each line of the output is a JSON object with "result", or with
 * "error", the name of Kafka's error.
 */
public final class AdminCalls {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Admin admin;

    private AdminCalls(Admin admin) {
        this.admin = admin;
    }

    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        try (Admin admin = Admin.create(settings)) {
            AdminCalls calls = new AdminCalls(admin);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Map<String, Object> answer = new HashMap<>();
                try {
                    answer.put("result", calls.run(JSON.readTree(line)));
                } catch (ExecutionException error) {
                    answer.put("error", Errors.forException(error.getCause()).name());
                }
                System.out.println(JSON.writeValueAsString(answer));
                System.out.flush();
            }
        }
    }

    private Object run(JsonNode call) throws Exception {
        JsonNode first = call.get(1);
        switch (call.get(0).asText()) {
            case "cluster":
                return describeCluster();
            case "topics":
                return describeTopics(texts(first));
            case "create_topics":
                return createTopics(first, call.get(2).asInt(), call.get(3));
            case "delete_topics":
                return admin.deleteTopics(texts(first)).all().get();
            case "add_partitions":
                return addPartitions(first);
            case "delete_records":
                return deleteRecords(first);
            case "offsets":
                return listOffsets(first, call.get(2).asText());
            case "configs":
                return describeConfigs(resource(call));
            case "set_configs":
                return alterConfigs(resource(call), call.get(3));
            case "groups":
                return listGroups();
            case "describe_group":
                return describeGroup(first.asText());
            case "delete_groups":
                return admin.deleteConsumerGroups(texts(first)).all().get();
            case "group_offsets":
                return groupOffsets(first.asText());
            case "set_group_offsets":
                return setGroupOffsets(first.asText(), call.get(2));
            case "log_dirs":
                return describeLogDirs(first);
            case "transactions":
                return describeTransactions();
            case "producers":
                return describeProducers(first);
            default:
                throw new IllegalArgumentException(call.toString());
        }
    }

    private Object describeCluster() throws Exception {
        DescribeClusterResult found = admin.describeCluster();
        Map<String, Object> nodes = new TreeMap<>();
        for (Node node : found.nodes().get()) {
            nodes.put(node.idString(), List.of(node.host(), node.port()));
        }
        return Map.of("id", found.clusterId().get(), "nodes", nodes);
    }

    private Object describeTopics(Collection<String> names) throws Exception {
        Map<String, Object> topics = new TreeMap<>();
        for (TopicDescription topic : admin.describeTopics(names).allTopicNames().get().values()) {
            Map<String, Object> partitions = new TreeMap<>();
            for (TopicPartitionInfo each : topic.partitions()) {
                Map<String, Object> partition = new TreeMap<>();
                partition.put("leader", each.leader().id());
                partition.put("replicas", ids(each.replicas()));
                partition.put("in_sync", new TreeSet<>(ids(each.isr())));
                partitions.put(String.valueOf(each.partition()), partition);
            }
            Map<String, Object> found = new TreeMap<>();
            found.put("id", topic.topicId().toString());
            found.put("is_internal", topic.isInternal());
            found.put("partitions", partitions);
            topics.put(topic.name(), found);
        }
        return topics;
    }

    private Object createTopics(JsonNode counts, int replicas, JsonNode configs) throws Exception {
        List<NewTopic> topics = new ArrayList<>();
        for (String name : names(counts)) {
            NewTopic topic = new NewTopic(name, counts.get(name).asInt(), (short) replicas);
            Map<String, String> values = new HashMap<>();
            for (String key : names(configs)) {
                values.put(key, configs.get(key).asText());
            }
            topics.add(topic.configs(values));
        }
        return admin.createTopics(topics).all().get();
    }

    private Object addPartitions(JsonNode counts) throws Exception {
        Map<String, NewPartitions> changes = new HashMap<>();
        for (String name : names(counts)) {
            changes.put(name, NewPartitions.increaseTo(counts.get(name).asInt()));
        }
        return admin.createPartitions(changes).all().get();
    }

    private Object deleteRecords(JsonNode offsets) throws Exception {
        Map<TopicPartition, RecordsToDelete> changes = new HashMap<>();
        for (String name : names(offsets)) {
            changes.put(partition(name), RecordsToDelete.beforeOffset(offsets.get(name).asLong()));
        }
        var found = admin.deleteRecords(changes).lowWatermarks();
        Map<String, Object> marks = new TreeMap<>();
        for (var each : found.entrySet()) {
            marks.put(each.getKey().toString(), each.getValue().get().lowWatermark());
        }
        return marks;
    }

    private Object listOffsets(JsonNode partitions, String at) throws Exception {
        OffsetSpec spec = at.equals("latest") ? OffsetSpec.latest() : OffsetSpec.earliest();
        Map<TopicPartition, OffsetSpec> specs = new HashMap<>();
        for (String name : texts(partitions)) {
            specs.put(partition(name), spec);
        }
        Map<String, Object> offsets = new TreeMap<>();
        for (var each : admin.listOffsets(specs).all().get().entrySet()) {
            offsets.put(each.getKey().toString(), each.getValue().offset());
        }
        return offsets;
    }

    private Object describeConfigs(ConfigResource resource) throws Exception {
        Map<String, Object> entries = new TreeMap<>();
        var found = admin.describeConfigs(List.of(resource)).all().get().get(resource);
        for (ConfigEntry each : found.entries()) {
            Map<String, Object> entry = new TreeMap<>();
            entry.put("value", each.value());
            entry.put("source", each.source().name());
            entry.put("is_read_only", each.isReadOnly());
            entry.put("is_sensitive", each.isSensitive());
            entries.put(each.name(), entry);
        }
        return entries;
    }

    private Object alterConfigs(ConfigResource resource, JsonNode values) throws Exception {
        List<AlterConfigOp> changes = new ArrayList<>();
        for (String key : names(values)) {
            boolean isDeletion = values.get(key).isNull();
            String value = isDeletion ? "" : values.get(key).asText();
            AlterConfigOp.OpType operation =
                    isDeletion ? AlterConfigOp.OpType.DELETE : AlterConfigOp.OpType.SET;
            changes.add(new AlterConfigOp(new ConfigEntry(key, value), operation));
        }
        return admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get();
    }

    private Object listGroups() throws Exception {
        Map<String, Object> groups = new TreeMap<>();
        for (GroupListing each : admin.listGroups().all().get()) {
            Map<String, Object> group = new TreeMap<>();
            group.put("protocol_type", each.protocol());
            group.put("state", each.groupState().map(Object::toString).orElse(""));
            group.put("group_type", each.type().map(Object::toString).orElse("").toLowerCase());
            groups.put(each.groupId(), group);
        }
        return groups;
    }

    private Object describeGroup(String name) throws Exception {
        ConsumerGroupDescription found =
                admin.describeConsumerGroups(List.of(name)).all().get().get(name);
        Map<String, Object> members = new TreeMap<>();
        for (MemberDescription each : found.members()) {
            TreeSet<String> partitions = new TreeSet<>();
            for (TopicPartition partition : each.assignment().topicPartitions()) {
                partitions.add(partition.toString());
            }
            Map<String, Object> member = new TreeMap<>();
            member.put("group_instance_id", each.groupInstanceId().orElse(null));
            member.put("client_id", each.clientId());
            member.put("client_host", each.host());
            member.put("partitions", partitions);
            members.put(each.consumerId(), member);
        }
        Map<String, Object> group = new TreeMap<>();
        group.put("group_type", found.type().toString().toLowerCase());
        group.put("state", found.groupState().toString());
        group.put("assignor", found.partitionAssignor());
        group.put("members", members);
        return group;
    }

    private Object groupOffsets(String name) throws Exception {
        Map<String, Object> offsets = new TreeMap<>();
        var found = admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata().get();
        for (var each : found.entrySet()) {
            offsets.put(each.getKey().toString(), each.getValue().offset());
        }
        return offsets;
    }

    private Object setGroupOffsets(String name, JsonNode offsets) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> changes = new HashMap<>();
        for (String key : names(offsets)) {
            changes.put(partition(key), new OffsetAndMetadata(offsets.get(key).asLong()));
        }
        return admin.alterConsumerGroupOffsets(name, changes).all().get();
    }

    private Object describeLogDirs(JsonNode brokers) throws Exception {
        List<Integer> nodes = new ArrayList<>();
        brokers.forEach(each -> nodes.add(each.asInt()));
        List<Object> found = new ArrayList<>();
        for (var directories : admin.describeLogDirs(nodes).allDescriptions().get().values()) {
            for (var directory : directories.entrySet()) {
                Map<String, Object> sizes = new TreeMap<>();
                for (var each : directory.getValue().replicaInfos().entrySet()) {
                    sizes.put(each.getKey().toString(), each.getValue().size());
                }
                found.add(List.of(directory.getKey(), sizes));
            }
        }
        return found;
    }

    private Object describeTransactions() throws Exception {
        List<String> names = new ArrayList<>();
        admin.listTransactions().all().get().forEach(each -> names.add(each.transactionalId()));
        Map<String, Object> found = new TreeMap<>();
        for (var each : admin.describeTransactions(names).all().get().entrySet()) {
            TransactionDescription description = each.getValue();
            Map<String, Object> transaction = new TreeMap<>();
            transaction.put("state", description.state().toString());
            transaction.put("producer_id", description.producerId());
            transaction.put("producer_epoch", description.producerEpoch());
            found.put(each.getKey(), transaction);
        }
        return found;
    }

    private Object describeProducers(JsonNode partitions) throws Exception {
        List<TopicPartition> places = new ArrayList<>();
        for (String name : texts(partitions)) {
            places.add(partition(name));
        }
        Map<String, Object> found = new TreeMap<>();
        for (var each : admin.describeProducers(places).all().get().entrySet()) {
            List<Object> producers = new ArrayList<>();
            for (ProducerState state : each.getValue().activeProducers()) {
                producers.add(List.of(state.producerId(), state.producerEpoch(),
                        state.lastSequence()));
            }
            found.put(each.getKey().toString(), producers);
        }
        return found;
    }

    private static ConfigResource resource(JsonNode call) {
        String type = call.get(1).asText().toUpperCase();
        return new ConfigResource(ConfigResource.Type.valueOf(type), call.get(2).asText());
    }

    private static TopicPartition partition(String name) {
        int dash = name.lastIndexOf('-');
        String topic = name.substring(0, dash);
        return new TopicPartition(topic, Integer.parseInt(name.substring(dash + 1)));
    }

    private static List<Integer> ids(Collection<Node> nodes) {
        List<Integer> found = new ArrayList<>();
        nodes.forEach(node -> found.add(node.id()));
        return found;
    }

    private static List<String> texts(JsonNode array) {
        List<String> found = new ArrayList<>();
        array.forEach(each -> found.add(each.asText()));
        return found;
    }

    private static List<String> names(JsonNode object) {
        List<String> found = new ArrayList<>();
        object.fieldNames().forEachRemaining(found::add);
        return found;
    }
}
