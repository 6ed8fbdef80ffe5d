/* SPDX-FileCopyrightText: 2026 The kwire authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference implementation for bulk varints and record columns: plain C loops with the
 * checks of the protocol.
 *
 * Each function repeats its work `rounds` times, so that the cost of the call from
 * Python is negligible. It returns the number of bytes read or written, or -1 if the
 * input is invalid. `zigzag` is 0 for unsigned varints and 1 for signed ones.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Prevents the compiler from merging the rounds. */
#define AGAIN() __asm__ volatile("" ::: "memory")

long decode(const uint8_t *data, long size, uint32_t *values, long count, int zigzag,
            long rounds)
{
    long offset = -1;
    for (long round = 0; round < rounds; round++) {
        offset = 0;
        for (long index = 0; index < count; index++) {
            uint32_t value = 0;
            for (int shift = 0;; shift += 7) {
                if (offset == size)
                    return -1;
                uint8_t byte = data[offset++];
                if (shift == 28 && byte > 0x0f)
                    return -1;
                value |= (uint32_t)(byte & 0x7f) << shift;
                if (byte < 0x80)
                    break;
            }
            values[index] = zigzag ? (value >> 1) ^ (0u - (value & 1)) : value;
        }
        AGAIN();
    }
    return offset;
}

long encode(const uint32_t *values, long count, uint8_t *data, int zigzag, long rounds)
{
    uint8_t *next = data;
    for (long round = 0; round < rounds; round++) {
        next = data;
        for (long index = 0; index < count; index++) {
            uint32_t value = values[index];
            if (zigzag)
                value = (value << 1) ^ (0u - (value >> 31));
            while (value >= 0x80) {
                *next++ = (uint8_t)(value | 0x80);
                value >>= 7;
            }
            *next++ = (uint8_t)value;
        }
        AGAIN();
    }
    return next - data;
}

/*
 * Output of the loops over records: numbers, end positions of keys and values, and
 * their bytes. Headers are counted but not stored.
 */
struct columns {
    int64_t *offsets;
    int64_t *timestamps;
    int32_t *key_ends;
    int32_t *value_ends;
    uint8_t *keys;
    uint8_t *values;
};

static int read_varint(const uint8_t **at, const uint8_t *end, int64_t *value)
{
    uint64_t raw = 0;
    for (int shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        raw |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = (int64_t)((raw >> 1) ^ (0 - (raw & 1)));
            return 1;
        }
    }
    return 0;
}

static int read_part(const uint8_t **at, const uint8_t *end, uint8_t *data,
                     int32_t *used)
{
    int64_t size;
    if (!read_varint(at, end, &size) || size < -1 || size > end - *at)
        return 0;
    if (size > 0) {
        memcpy(data + *used, *at, (size_t)size);
        *used += (int32_t)size;
        *at += size;
    }
    return 1;
}

/* Split the records of a batch into columns. */
long split_records(const uint8_t *data, long size, long count, int64_t first_offset,
                   int64_t first_timestamp, struct columns *out)
{
    const uint8_t *at = data, *end = data + size;
    int32_t keys = 0, values = 0;
    for (long index = 0; index < count; index++) {
        int64_t length, timestamp, offset, headers;
        const uint8_t *last;
        if (!read_varint(&at, end, &length) || length < 1 || length > end - at)
            return -1;
        last = at + length;
        at++;
        if (!read_varint(&at, last, &timestamp) || !read_varint(&at, last, &offset)
            || !read_part(&at, last, out->keys, &keys)
            || !read_part(&at, last, out->values, &values)
            || !read_varint(&at, last, &headers) || headers || at != last)
            return -1;
        out->offsets[index] = first_offset + offset;
        out->timestamps[index] = first_timestamp + timestamp;
        out->key_ends[index] = keys;
        out->value_ends[index] = values;
    }
    return at - data;
}

static uint8_t *write_varint(uint8_t *at, int64_t value)
{
    uint64_t raw = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    while (raw >= 0x80) {
        *at++ = (uint8_t)(raw | 0x80);
        raw >>= 7;
    }
    *at++ = (uint8_t)raw;
    return at;
}

static long varint_size(int64_t value)
{
    uint64_t raw = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    long size = 1;
    while (raw >>= 7)
        size++;
    return size;
}

/* Encode columns as records. The caller must allocate enough memory. */
long join_records(const struct columns *in, long count, uint8_t *data)
{
    uint8_t *at = data;
    int32_t key = 0, value = 0;
    for (long index = 0; index < count; index++) {
        int64_t timestamp = in->timestamps[index] - in->timestamps[0];
        int64_t offset = in->offsets[index] - in->offsets[0];
        int32_t keys = in->key_ends[index] - key, values = in->value_ends[index] - value;
        at = write_varint(at, 2 + varint_size(timestamp) + varint_size(offset)
                                  + varint_size(keys) + keys + varint_size(values)
                                  + values);
        *at++ = 0;
        at = write_varint(at, timestamp);
        at = write_varint(at, offset);
        at = write_varint(at, keys);
        memcpy(at, in->keys + key, (size_t)keys);
        at = write_varint(at + keys, values);
        memcpy(at, in->values + value, (size_t)values);
        at += values;
        *at++ = 0;
        key += keys;
        value += values;
    }
    return at - data;
}
