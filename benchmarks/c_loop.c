/* SPDX-FileCopyrightText: 2026 The kwire authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The yardstick for bulk varints: a plain C loop with the checks of the protocol.
 *
 * Each function does its work `rounds` times, so that the price of one call from
 * Python does not count, and returns the bytes read or written, or -1 on bad input.
 * `zigzag` is 0 for unsigned varints and 1 for signed ones.
 */
#include <stddef.h>
#include <stdint.h>

/* Keeps the compiler from doing the rounds once. */
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
