// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

package kwire.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.Schema;

/**
 * What Kafka itself says, as JSON lines: which messages it has, bytes it writes, bytes it reads, its error codes.
 * One run speaks for the Kafka jars on its class path. Which jars those are, and what happens to the lines, is
 * decided in oracle.py.
 */
public final class Oracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** The random vectors of a pair, in their order; the default message comes before them. */
    private static final Variety[] VARIETIES = {
        Variety.FULL, Variety.LEAN, Variety.MIXED, Variety.MIXED, Variety.MIXED, Variety.UNKNOWN_TAGS
    };
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    private Oracle() {
    }

    public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
        switch (arguments.length == 0 ? "" : arguments[0]) {
            case "classes" -> classes();
            case "write" -> write(arguments[1]);
            case "read" -> read();
            case "accept" -> accept();
            case "errors" -> errors();
            default -> {
                System.err.println("usage: Oracle classes | write SEED | read | accept | errors");
                System.exit(2);
            }
        }
        OUT.flush();
    }

    private static void classes() throws IOException, ReflectiveOperationException {
        for (MessageClass one : MessageClass.all().values()) {
            ObjectNode line = JSON.createObjectNode();
            line.put("message", one.message).put("class", one.type.getName()).put("jar", one.jar);
            line.put("min", one.lowestVersion()).put("max", one.highestVersion());
            print(line);
        }
    }

    /** For each "Message version" on stdin: the pair's seed, then its vectors. */
    private static void write(String seed) throws IOException, ReflectiveOperationException {
        Map<String, MessageClass> classes = MessageClass.all();
        BufferedReader in = stdin();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            MessageClass one = classes.get(words[0]);
            short version = Short.parseShort(words[1]);
            long pairSeed = pairSeed(seed, one.message, version);
            print(JSON.createObjectNode().put("message", one.message).put("version", version).put("seed", pairSeed));
            printVector(one, version, one.defaultMessage());
            boolean flexible = isFlexible(one.schema(version));
            for (int number = 0; number < VARIETIES.length; number++) {
                if (flexible || VARIETIES[number] != Variety.UNKNOWN_TAGS) {
                    printVector(one, version, random(one, version, VARIETIES[number], pairSeed + number));
                }
            }
        }
    }

    private static Message random(MessageClass one, short version, Variety variety, long seed)
            throws ReflectiveOperationException {
        Schema schema = one.schema(version);
        try {
            return readAll(one, version, new RandomMessage(seed, variety, false).bytes(schema));
        } catch (RuntimeException e) {
            return readAll(one, version, new RandomMessage(seed, variety, true).bytes(schema));
        }
    }

    private static Message readAll(MessageClass one, short version, ByteBuffer bytes)
            throws ReflectiveOperationException {
        Message message = one.read(bytes, version);
        if (bytes.hasRemaining()) {
            throw new IllegalStateException(one.message + " v" + version + ": schema and reader differ");
        }
        return message;
    }

    private static boolean isFlexible(Schema schema) {
        return Stream.of(schema.fields()).anyMatch(field -> field.def.name.equals("_tagged_fields"));
    }

    private static void printVector(MessageClass one, short version, Message message)
            throws IOException, ReflectiveOperationException {
        byte[] bytes = one.write(message, version);
        if (!message.equals(readAll(one, version, ByteBuffer.wrap(bytes)))) {
            throw new IllegalStateException(one.message + " v" + version + " is not what was written");
        }
        ObjectNode line = JSON.createObjectNode();
        line.put("message", one.message).put("version", version).put("bytes", bytes);
        line.set("json", one.json(message, version));
        print(line);
    }

    /** Judges each {"message", "version", "bytes"} on stdin with Kafka's generated reader. */
    private static void read() throws IOException, ReflectiveOperationException {
        Map<String, MessageClass> classes = MessageClass.all();
        BufferedReader in = stdin();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = JSON.readTree(line);
            MessageClass one = classes.get(asked.get("message").asText());
            short version = (short) asked.get("version").asInt();
            ByteBuffer bytes = ByteBuffer.wrap(asked.get("bytes").binaryValue());
            ObjectNode answer = JSON.createObjectNode();
            String step = "read";
            try {
                Message message = one.read(bytes, version);
                int remaining = bytes.remaining();
                step = "json";
                JsonNode json = one.json(message, version);
                step = "write";
                byte[] rewritten = one.write(message, version);
                answer.put("ok", true).set("json", json);
                answer.put("remaining", remaining).put("rewritten", rewritten);
            } catch (RuntimeException e) {
                answer.put("ok", false).put("step", step).put("error", e.toString());
            }
            print(answer);
            OUT.flush();
        }
    }

    /** Reads a message from each "Message version file" on stdin; prints whether Kafka accepts the whole file. */
    private static void accept() throws IOException, ReflectiveOperationException {
        Map<String, MessageClass> classes = MessageClass.all();
        BufferedReader in = stdin();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", 3);
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(Path.of(words[2])));
            ObjectNode answer = JSON.createObjectNode();
            try {
                readAll(classes.get(words[0]), Short.parseShort(words[1]), bytes);
                answer.put("ok", true);
            } catch (RuntimeException e) {
                answer.put("ok", false).put("error", e.toString());
            }
            print(answer);
        }
    }

    private static void errors() throws IOException {
        for (Errors error : Stream.of(Errors.values()).sorted(Comparator.comparingInt(Errors::code)).toList()) {
            ObjectNode line = JSON.createObjectNode().put("code", error.code()).put("name", error.name());
            print(line.put("retriable", error.exception() instanceof RetriableException));
        }
    }

    /** Depends on the names alone, so that a pair keeps its vectors when others come or go. */
    private static long pairSeed(String seed, String message, short version) {
        try {
            byte[] text = (seed + "/" + message + "/" + version).getBytes(StandardCharsets.UTF_8);
            return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text)).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static BufferedReader stdin() {
        return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    }

    private static void print(JsonNode line) throws IOException {
        OUT.print(JSON.writeValueAsString(line) + "\n");
    }
}
