// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32;

/** A checksum of values in wire order, the same in every language. */
final class Sum {
    long value = 0xcbf29ce484222325L;

    void number(long number) {
        value = (value ^ number) * 0x100000001b3L;
    }

    void flag(boolean flag) {
        number(flag ? 1 : 0);
    }

    void data(ByteBuffer data) {
        if (data == null) {
            number(-1);
            return;
        }
        CRC32 crc = new CRC32();
        number(data.remaining());
        crc.update(data.duplicate());
        number(crc.getValue());
    }

    void text(String text) {
        data(text == null ? null : ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    void numbers(List<Integer> numbers) {
        number(numbers.size());
        for (int each : numbers) {
            number(each);
        }
    }
}
