// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

package kwire.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.Schema;

/**
 * One class that Kafka generated for a message: its versions, its reader, its writer and its JSON form.
 * All of it is found by reflection, so that one program serves every Kafka line on its class path.
 */
final class MessageClass {
    final String message;
    final String jar;
    final Class<? extends Message> type;
    private final Schema[] schemas;
    private final Optional<Method> jsonWriter;

    private MessageClass(String jar, Class<? extends Message> type) throws ReflectiveOperationException {
        this.jar = jar;
        this.type = type;
        this.message = type.getSimpleName().replaceFirst("(Request|Response|Header)Data$", "$1");
        this.schemas = (Schema[]) type.getField("SCHEMAS").get(null);
        this.jsonWriter = jsonWriter(type);
    }

    /** Every generated message in the jars of the class path, by name. */
    static Map<String, MessageClass> all() throws IOException, ReflectiveOperationException {
        Map<String, MessageClass> found = new TreeMap<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!path.endsWith(".jar")) {
                continue;
            }
            try (JarFile jar = new JarFile(path)) {
                for (JarEntry entry : jar.stream().toList()) {
                    if (!isGenerated(entry.getName())) {
                        continue;
                    }
                    String name = entry.getName().replace(".class", "").replace('/', '.');
                    Class<?> type = Class.forName(name);
                    if (Message.class.isAssignableFrom(type) && !Modifier.isAbstract(type.getModifiers())) {
                        MessageClass one = new MessageClass(new File(path).getName(), type.asSubclass(Message.class));
                        MessageClass twin = found.put(one.message, one);
                        if (twin != null) {
                            throw new IllegalStateException(one.message + " is both in " + twin.jar + " and " + one.jar);
                        }
                    }
                }
            }
        }
        return found;
    }

    private static boolean isGenerated(String entry) {
        return entry.matches(".*/(common/message|common/metadata|generated)/[^/$]+\\.class")
            && !entry.endsWith("JsonConverter.class");
    }

    private static Optional<Method> jsonWriter(Class<?> type) throws NoSuchMethodException {
        try {
            Class<?> converter = Class.forName(type.getName() + "JsonConverter", true, type.getClassLoader());
            return Optional.of(converter.getMethod("write", type, short.class));
        } catch (ClassNotFoundException e) {
            return Optional.empty();
        }
    }

    short lowestVersion() throws ReflectiveOperationException {
        return type.getField("LOWEST_SUPPORTED_VERSION").getShort(null);
    }

    short highestVersion() throws ReflectiveOperationException {
        return type.getField("HIGHEST_SUPPORTED_VERSION").getShort(null);
    }

    Schema schema(short version) {
        return schemas[version];
    }

    Message defaultMessage() throws ReflectiveOperationException {
        return type.getConstructor().newInstance();
    }

    /** Reads one message and leaves the buffer behind its last byte. */
    Message read(ByteBuffer bytes, short version) throws ReflectiveOperationException {
        Message read = defaultMessage();
        read.read(new ByteBufferAccessor(bytes), version);
        return read;
    }

    byte[] write(Message value, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer bytes = ByteBuffer.allocate(value.size(cache, version));
        value.write(new ByteBufferAccessor(bytes), cache, version);
        if (bytes.hasRemaining()) {
            throw new IllegalStateException(message + " v" + version + " wrote less than its size");
        }
        return bytes.array();
    }

    /** Kafka's own JSON form; null for the few messages that Kafka generates without a converter. */
    JsonNode json(Message value, short version) throws ReflectiveOperationException {
        if (jsonWriter.isEmpty()) {
            return null;
        }
        try {
            return (JsonNode) jsonWriter.get().invoke(null, value, version);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        }
    }
}
