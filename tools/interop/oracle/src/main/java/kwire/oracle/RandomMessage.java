// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

package kwire.oracle;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.types.ArrayOf;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.CompactArrayOf;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

/**
 * Random bytes that are a valid message of one schema. They never become a vector themselves: Kafka's generated
 * reader reads them and Kafka's generated writer writes the vector. java.util.Random gives the same numbers on
 * every machine and in every Java release.
 */
final class RandomMessage {
    private static final int LARGEST = 1 << 16;
    // Two, three and four bytes of UTF-8 per letter, and plain ASCII.
    private static final String[] WORDS = {"topic", "größe", "журнал", "東京", "🦦🌊", "a", "naïve-𝄞", "k.w_i-r3"};
    // Each is written the same way by every Java release.
    private static final double[] DOUBLES = {-0.0, 0.5, -1.5, 1048576.25, 1.0E300, -1.0E-9, Double.MAX_VALUE, 42.0};
    private static final int FIRST_UNKNOWN_TAG = 100;

    private final Random random;
    private final Variety variety;
    private final boolean oldSchema;
    // How many array elements around us are not the first of their array: only there is every value free.
    private int repeated;
    private boolean longStringDue;

    /**
     * Up to 4.0 a schema does not tell which structs are nullable, and calls every records field nullable. With
     * oldSchema each struct field has a marker and no records are null.
     */
    RandomMessage(long seed, Variety variety, boolean oldSchema) {
        this.random = new Random(seed);
        this.variety = variety;
        this.oldSchema = oldSchema;
        this.longStringDue = variety == Variety.FULL;
    }

    ByteBuffer bytes(Schema schema) {
        ByteBuffer buffer = ByteBuffer.allocate(LARGEST);
        struct(schema, new ByteBufferAccessor(buffer), 0);
        buffer.flip();
        return buffer;
    }

    private void struct(Schema schema, ByteBufferAccessor out, int depth) {
        for (BoundField field : schema.fields()) {
            if (field.def.type instanceof TaggedFields tagged) {
                tagSection(tagged, out, depth);
            } else {
                value(field.def.type, out, depth);
            }
        }
    }

    private void tagSection(TaggedFields tagged, ByteBufferAccessor out, int depth) {
        Map<Integer, byte[]> section = new TreeMap<>();
        for (Map.Entry<Integer, Field> entry : new TreeMap<>(knownTags(tagged)).entrySet()) {
            Type type = entry.getValue().type;
            boolean set = switch (variety) {
                case FULL, UNKNOWN_TAGS -> true;
                case LEAN -> type.isNullable();
                case MIXED -> random.nextBoolean();
            };
            if (set) {
                ByteBuffer content = ByteBuffer.allocate(LARGEST);
                taggedValue(type, new ByteBufferAccessor(content), depth);
                section.put(entry.getKey(), Arrays.copyOf(content.array(), content.position()));
            }
        }
        if (variety == Variety.UNKNOWN_TAGS) {
            section.put(FIRST_UNKNOWN_TAG + random.nextInt(50), randomBytes(random.nextInt(4)));
            if (depth == 0) {
                section.put(20000 + random.nextInt(100), randomBytes(130));
            }
        }
        out.writeUnsignedVarint(section.size());
        section.forEach((tag, content) -> {
            out.writeUnsignedVarint(tag);
            out.writeUnsignedVarint(content.length);
            out.writeByteArray(content);
        });
    }

    /** Inside a tag section the marker of a nullable struct is 0 or 1, not -1 or 1. */
    private void taggedValue(Type type, ByteBufferAccessor out, int depth) {
        if (!(type instanceof Schema schema)) {
            value(type, out, depth);
            return;
        }
        boolean absent = isNull(schema.isNullable());
        if (schema.isNullable()) {
            out.writeUnsignedVarint(absent ? 0 : 1);
        }
        if (!absent) {
            struct(schema, out, depth + 1);
        }
    }

    private void value(Type type, ByteBufferAccessor out, int depth) {
        if (type instanceof Schema schema) {
            structField(schema, out, depth);
        } else if (type instanceof ArrayOf || type instanceof CompactArrayOf) {
            array(type, out, depth);
        } else {
            scalar(type, out);
        }
    }

    private void structField(Schema schema, ByteBufferAccessor out, int depth) {
        if (schema.isNullable() || oldSchema) {
            boolean absent = isNull(true);
            out.writeByte((byte) (absent ? -1 : 1));
            if (absent) {
                return;
            }
        }
        struct(schema, out, depth + 1);
    }

    private void array(Type type, ByteBufferAccessor out, int depth) {
        Type element = type.arrayElementType().orElseThrow();
        int count = isNull(type.isNullable()) ? -1 : elements(element, depth);
        if (type instanceof CompactArrayOf) {
            out.writeUnsignedVarint(count + 1);
        } else {
            out.writeInt(count);
        }
        for (int i = 0; i < count; i++) {
            int before = repeated;
            repeated += i > 0 ? 1 : 0;
            if (element instanceof Schema schema) {
                struct(schema, out, depth + 1);
            } else {
                scalar(element, out);
            }
            repeated = before;
        }
    }

    private int elements(Type element, int depth) {
        return switch (variety) {
            case FULL -> depth < 2 ? 2 : 1;
            case LEAN -> element instanceof Schema ? 1 : 0;
            case MIXED -> random.nextInt(depth < 2 ? 4 : 3);
            case UNKNOWN_TAGS -> 1 + random.nextInt(2);
        };
    }

    private void scalar(Type type, ByteBufferAccessor out) {
        String name = type.toString();
        boolean compact = name.startsWith("COMPACT_");
        switch (name) {
            case "BOOLEAN" -> out.writeByte((byte) (variety == Variety.FULL || random.nextBoolean() ? 1 : 0));
            case "INT8" -> out.writeByte((byte) integer(Byte.MIN_VALUE, Byte.MAX_VALUE));
            case "INT16" -> out.writeShort((short) integer(Short.MIN_VALUE, Short.MAX_VALUE));
            case "UINT16" -> out.writeShort((short) integer(0, 0xffff));
            case "INT32" -> out.writeInt((int) integer(Integer.MIN_VALUE, Integer.MAX_VALUE));
            case "UINT32", "UNSIGNED_INT32" -> out.writeInt((int) integer(0, 0xffffffffL));
            case "INT64" -> out.writeLong(integer(Long.MIN_VALUE, Long.MAX_VALUE));
            case "FLOAT64" -> out.writeDouble(DOUBLES[repeated == 0 && variety == Variety.LEAN
                ? 0 : random.nextInt(DOUBLES.length)]);
            case "UUID" -> out.writeByteArray(variety == Variety.LEAN ? new byte[16] : randomBytes(16));
            case "STRING", "COMPACT_STRING", "NULLABLE_STRING", "COMPACT_NULLABLE_STRING" ->
                sized(isNull(type.isNullable()) ? null : string(), compact, Short.BYTES, out);
            case "BYTES", "COMPACT_BYTES", "NULLABLE_BYTES", "COMPACT_NULLABLE_BYTES" ->
                sized(isNull(type.isNullable()) ? null : randomBytes(payloadSize()), compact, Integer.BYTES, out);
            case "RECORDS", "COMPACT_RECORDS", "NULLABLE_RECORDS", "COMPACT_NULLABLE_RECORDS" ->
                sized(!oldSchema && isNull(type.isNullable()) ? null : records(), compact, Integer.BYTES, out);
            default -> throw new IllegalStateException("no random value for the type " + name);
        }
    }

    private static void sized(byte[] content, boolean compact, int prefix, ByteBufferAccessor out) {
        int length = content == null ? -1 : content.length;
        if (compact) {
            out.writeUnsignedVarint(length + 1);
        } else if (prefix == Short.BYTES) {
            out.writeShort((short) length);
        } else {
            out.writeInt(length);
        }
        if (content != null) {
            out.writeByteArray(content);
        }
    }

    private boolean isNull(boolean nullable) {
        return nullable && (variety == Variety.LEAN || variety == Variety.MIXED && random.nextInt(3) == 0);
    }

    private long integer(long lowest, long highest) {
        if (repeated == 0 && variety == Variety.FULL) {
            return highest;
        }
        if (repeated == 0 && variety == Variety.LEAN) {
            return lowest;
        }
        return switch (random.nextInt(6)) {
            case 0 -> lowest;
            case 1 -> highest;
            case 2 -> 0;
            case 3 -> highest / 2 + 1;
            default -> random.nextInt(100);
        };
    }

    private byte[] string() {
        if (variety == Variety.LEAN) {
            return new byte[0];
        }
        String word = WORDS[random.nextInt(WORDS.length)];
        boolean makeLong = longStringDue || random.nextInt(24) == 0;
        longStringDue = false;
        // A long one crosses 127 bytes, where the length of a compact string takes a second byte.
        String text = makeLong ? word.repeat(128).substring(0, 128) : word;
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private int payloadSize() {
        return variety == Variety.LEAN ? 0 : random.nextInt(24) == 0 ? 128 : random.nextInt(7);
    }

    private byte[] randomBytes(int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    /** A record batch of format 2 with one record, or no batch at all. */
    private byte[] records() {
        if (variety == Variety.LEAN || variety == Variety.MIXED && random.nextInt(4) == 0) {
            return new byte[0];
        }
        byte[] value = randomBytes(1 + random.nextInt(6));
        ByteBuffer batch = ByteBuffer.allocate(61 + 7 + value.length);
        batch.putLong(random.nextInt(1000));
        batch.putInt(batch.capacity() - 12);
        batch.putInt(random.nextInt(100)).put((byte) 2).putInt(0);
        batch.putShort((short) 0).putInt(0).putLong(1700000000000L).putLong(1700000000000L);
        batch.putLong(-1).putShort((short) -1).putInt(-1).putInt(1);
        // Length, attributes, both deltas, no key, the value, no headers; a varint of 7 bits is twice its number.
        batch.put((byte) (2 * (6 + value.length))).put((byte) 0).put((byte) 0).put((byte) 0).put((byte) 1);
        batch.put((byte) (2 * value.length)).put(value).put((byte) 0);
        CRC32C checksum = new CRC32C();
        checksum.update(batch.array(), 21, batch.position() - 21);
        batch.putInt(17, (int) checksum.getValue());
        return batch.array();
    }

    @SuppressWarnings("unchecked")
    private static Map<Integer, Field> knownTags(TaggedFields tagged) {
        try {
            // The public accessor came with 4.0; the private field was always there.
            java.lang.reflect.Field fields = TaggedFields.class.getDeclaredField("fields");
            fields.setAccessible(true);
            return (Map<Integer, Field>) fields.get(tagged);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
