/* SPDX-FileCopyrightText: 2026 The kwire authors
   SPDX-License-Identifier: Apache-2.0

   The kernels of checksums.pyx: the code that requires intrinsics, and the choice
   between the implementations.

   A kernel receives and returns the CRC register without the inversion before the
   first and after the last byte, which is left to the caller. Both polynomials are
   in reflected form: the highest bit of a word is the coefficient of x^0, and the
   lowest bit of a message's first byte is the coefficient of the highest power of x. */

#ifndef KWIRE_CHECKSUMS_H
#define KWIRE_CHECKSUMS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif
#if (defined(__x86_64__) || defined(_M_X64)) && !defined(_M_ARM64EC)
#define KWIRE_X86
#include <immintrin.h>
#if !defined(_MSC_VER)
#include <cpuid.h>
#endif
#elif defined(__AARCH64EL__) || defined(_M_ARM64)
#define KWIRE_ARM
#if defined(_MSC_VER)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define KWIRE_TARGET(names) __attribute__((target(names)))
#else
#define KWIRE_TARGET(names)
#endif

typedef uint32_t (*kwire_kernel)(uint32_t crc, const uint8_t *at, size_t size);

typedef struct {
    const char *name;
    kwire_kernel crc32c;
    kwire_kernel crc32;
} kwire_checksums;

typedef struct {
    uint32_t reversed;
    uint32_t table[8][256];
    /* The quotient of x^64 and the polynomial, and the polynomial itself, with 33
       bits each. */
    uint64_t barrett[2];
    /* Factors for the two halves of 16 bytes that advance a state by the given
       number of bits. The factors of by_64 both apply to the first half: they
       advance it by 96 and 64 bits. */
    uint64_t by_64[2];
    uint64_t by_128[2];
    uint64_t by_512[2];
    uint64_t by_2048[2];
} kwire_polynomial;

static kwire_polynomial kwire_castagnoli = {.reversed = 0x82f63b78};
static kwire_polynomial kwire_ieee = {.reversed = 0xedb88320};

/* ---- All machines: eight tables, eight bytes per step. ---- */

static uint64_t kwire_little_endian(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static uint32_t kwire_by_table(
    const kwire_polynomial *p, uint32_t crc, const uint8_t *at, size_t size)
{
    for (; size >= 8; at += 8, size -= 8) {
        uint64_t word = kwire_little_endian(at) ^ crc;
        crc = p->table[7][word & 255] ^ p->table[6][word >> 8 & 255]
            ^ p->table[5][word >> 16 & 255] ^ p->table[4][word >> 24 & 255]
            ^ p->table[3][word >> 32 & 255] ^ p->table[2][word >> 40 & 255]
            ^ p->table[1][word >> 48 & 255] ^ p->table[0][word >> 56];
    }
    for (; size > 0; at++, size--)
        crc = crc >> 8 ^ p->table[0][(crc ^ *at) & 255];
    return crc;
}

static uint32_t kwire_crc32c_table(uint32_t crc, const uint8_t *at, size_t size)
{
    return kwire_by_table(&kwire_castagnoli, crc, at, size);
}

static uint32_t kwire_crc32_table(uint32_t crc, const uint8_t *at, size_t size)
{
    return kwire_by_table(&kwire_ieee, crc, at, size);
}

/* ---- x86-64: the crc32 instruction and carry-less multiplication. ---- */

#ifdef KWIRE_X86

/* Byte shuffle masks. The mask at n moves the first n bytes to the end and fills the
   start with zeros. The mask at 16 + n moves all bytes except the first n to the
   start; the highest bit of the remaining mask bytes is set. */
static const uint8_t kwire_shifts[48] = {
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128};

/* Maximum and minimum length of each of three parallel streams, in words of 8 bytes.
   Streams below the minimum are slower than a single stream. */
#define KWIRE_LONG_STREAM 512
#define KWIRE_SHORT_STREAM 3
/* Minimum number of bytes for which registers of 64 bytes are faster. */
#define KWIRE_WIDE 512

/* x^(64 n - 33) for n words. Multiplying a CRC by it, and passing the product to the
   crc32 instruction as a word of the message, advances the CRC by n words. */
static uint32_t kwire_words_on[2 * KWIRE_LONG_STREAM + 1];

KWIRE_TARGET("sse4.2")
static uint32_t kwire_one_stream(uint32_t crc, const uint8_t *at, size_t size)
{
    uint64_t state = crc;
    uint32_t four;
    uint16_t two;
    for (; size >= 8; at += 8, size -= 8)
        state = _mm_crc32_u64(state, kwire_little_endian(at));
    crc = (uint32_t)state;
    if (size & 4) {
        memcpy(&four, at, 4);
        crc = _mm_crc32_u32(crc, four);
        at += 4;
    }
    if (size & 2) {
        memcpy(&two, at, 2);
        crc = _mm_crc32_u16(crc, two);
        at += 2;
    }
    return size & 1 ? _mm_crc32_u8(crc, *at) : crc;
}

/* The instruction has a latency of three cycles and a throughput of one per cycle.
   Three parallel streams therefore use it completely. At the end, the CRCs of the
   first two streams are advanced to the end of the third. */
KWIRE_TARGET("sse4.2,pclmul")
static uint32_t kwire_crc32c_sse42(uint32_t crc, const uint8_t *at, size_t size)
{
    while (size >= 3 * 8 * KWIRE_SHORT_STREAM) {
        size_t words = size / 24;
        const uint8_t *b_at, *c_at, *end;
        uint64_t a = crc, b = 0, c = 0;
        __m128i moved;
        if (words > KWIRE_LONG_STREAM)
            words = KWIRE_LONG_STREAM;
        end = b_at = at + 8 * words;
        c_at = at + 16 * words;
        size -= 24 * words;
        for (; at < end; at += 8, b_at += 8, c_at += 8) {
            a = _mm_crc32_u64(a, kwire_little_endian(at));
            b = _mm_crc32_u64(b, kwire_little_endian(b_at));
            c = _mm_crc32_u64(c, kwire_little_endian(c_at));
        }
        moved = _mm_xor_si128(
            _mm_clmulepi64_si128(
                _mm_cvtsi64_si128((int64_t)a),
                _mm_cvtsi32_si128((int32_t)kwire_words_on[2 * words]), 0),
            _mm_clmulepi64_si128(
                _mm_cvtsi64_si128((int64_t)b),
                _mm_cvtsi32_si128((int32_t)kwire_words_on[words]), 0));
        crc = (uint32_t)(c ^ _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(moved)));
        at = c_at;
    }
    return kwire_one_stream(crc, at, size);
}

KWIRE_TARGET("sse4.2,pclmul")
static __m128i kwire_moved(__m128i state, __m128i by, __m128i onto)
{
    return _mm_xor_si128(
        onto,
        _mm_xor_si128(
            _mm_clmulepi64_si128(state, by, 0x00),
            _mm_clmulepi64_si128(state, by, 0x11)));
}

static __m128i kwire_load(const void *at)
{
    return _mm_loadu_si128((const __m128i *)at);
}

/* Fold the remaining bytes into a state of 16 bytes, and reduce it to a CRC. The
   message must have at least 16 bytes, so that the last 16 bytes can be loaded at
   once. */
KWIRE_TARGET("sse4.2,pclmul")
static uint32_t kwire_folded(
    const kwire_polynomial *p, __m128i state, const uint8_t *at, const uint8_t *end)
{
    __m128i by_128 = kwire_load(p->by_128);
    __m128i by_64 = kwire_load(p->by_64);
    __m128i barrett = kwire_load(p->barrett);
    __m128i upper;
    for (; end - at >= 16; at += 16)
        state = kwire_moved(state, by_128, kwire_load(at));
    if (end > at) {
        /* Up to 15 remaining bytes replace the same number of bytes of the state.
           The replaced bytes are folded. */
        const uint8_t *mask = kwire_shifts + (end - at);
        __m128i kept = kwire_load(mask + 16);
        state = kwire_moved(
            _mm_shuffle_epi8(state, kwire_load(mask)), by_128,
            _mm_blendv_epi8(
                _mm_shuffle_epi8(state, kept), kwire_load(end - 16), kept));
    }
    /* Reduce the 128 bits, and the 32 zero bits that a CRC appends, to 96 bits and
       then to 64 bits. */
    upper = _mm_slli_si128(_mm_srli_si128(state, 8), 4);
    state = _mm_xor_si128(upper, _mm_clmulepi64_si128(state, by_64, 0x00));
    state = _mm_xor_si128(state, _mm_clmulepi64_si128(state, by_64, 0x10));
    state = _mm_srli_si128(state, 8);
    /* Barrett reduction: compute the quotient of the first 32 bits, then the
       remainder. */
    upper = _mm_and_si128(state, _mm_cvtsi32_si128(-1));
    upper = _mm_clmulepi64_si128(upper, barrett, 0x00);
    upper = _mm_and_si128(upper, _mm_cvtsi32_si128(-1));
    upper = _mm_clmulepi64_si128(upper, barrett, 0x10);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(state, upper), 1);
}

/* Uses four parallel states of 16 bytes. The message must have at least 16 bytes. */
KWIRE_TARGET("sse4.2,pclmul")
static uint32_t kwire_fold(
    const kwire_polynomial *p, uint32_t crc, const uint8_t *at, size_t size)
{
    const uint8_t *end = at + size;
    __m128i a = _mm_xor_si128(kwire_load(at), _mm_cvtsi32_si128((int32_t)crc));
    if (size < 64)
        return kwire_folded(p, a, at + 16, end);
    __m128i by_128 = kwire_load(p->by_128);
    __m128i by_512 = kwire_load(p->by_512);
    __m128i b = kwire_load(at + 16);
    __m128i c = kwire_load(at + 32);
    __m128i d = kwire_load(at + 48);
    for (at += 64; end - at >= 64; at += 64) {
        a = kwire_moved(a, by_512, kwire_load(at));
        b = kwire_moved(b, by_512, kwire_load(at + 16));
        c = kwire_moved(c, by_512, kwire_load(at + 32));
        d = kwire_moved(d, by_512, kwire_load(at + 48));
    }
    b = kwire_moved(a, by_128, b);
    c = kwire_moved(b, by_128, c);
    d = kwire_moved(c, by_128, d);
    return kwire_folded(p, d, at, end);
}

static uint32_t kwire_crc32_sse42(uint32_t crc, const uint8_t *at, size_t size)
{
    return size < 16 ? kwire_crc32_table(crc, at, size)
                     : kwire_fold(&kwire_ieee, crc, at, size);
}

KWIRE_TARGET("avx512f,vpclmulqdq")
static __m512i kwire_moved_wide(__m512i state, __m512i by, __m512i onto)
{
    return _mm512_ternarylogic_epi64(
        onto,
        _mm512_clmulepi64_epi128(state, by, 0x00),
        _mm512_clmulepi64_epi128(state, by, 0x11), 0x96);
}

/* Uses four parallel states of 64 bytes. The message must have at least 256 bytes. */
KWIRE_TARGET("avx512f,vpclmulqdq,sse4.2,pclmul")
static uint32_t kwire_fold_wide(
    const kwire_polynomial *p, uint32_t crc, const uint8_t *at, size_t size)
{
    const uint8_t *end = at + size;
    __m128i by_128 = kwire_load(p->by_128);
    __m512i by_512 = _mm512_broadcast_i32x4(kwire_load(p->by_512));
    __m512i by_2048 = _mm512_broadcast_i32x4(kwire_load(p->by_2048));
    __m512i a = _mm512_xor_si512(
        _mm512_loadu_si512(at),
        _mm512_zextsi128_si512(_mm_cvtsi32_si128((int32_t)crc)));
    __m512i b = _mm512_loadu_si512(at + 64);
    __m512i c = _mm512_loadu_si512(at + 128);
    __m512i d = _mm512_loadu_si512(at + 192);
    __m128i state;
    for (at += 256; end - at >= 256; at += 256) {
        a = kwire_moved_wide(a, by_2048, _mm512_loadu_si512(at));
        b = kwire_moved_wide(b, by_2048, _mm512_loadu_si512(at + 64));
        c = kwire_moved_wide(c, by_2048, _mm512_loadu_si512(at + 128));
        d = kwire_moved_wide(d, by_2048, _mm512_loadu_si512(at + 192));
    }
    b = kwire_moved_wide(a, by_512, b);
    c = kwire_moved_wide(b, by_512, c);
    d = kwire_moved_wide(c, by_512, d);
    for (; end - at >= 64; at += 64)
        d = kwire_moved_wide(d, by_512, _mm512_loadu_si512(at));
    state = kwire_moved(
        _mm512_extracti32x4_epi32(d, 0), by_128, _mm512_extracti32x4_epi32(d, 1));
    state = kwire_moved(state, by_128, _mm512_extracti32x4_epi32(d, 2));
    state = kwire_moved(state, by_128, _mm512_extracti32x4_epi32(d, 3));
    /* Clear the upper halves of the registers. Otherwise, SSE instructions that run
       later would be slower. */
    _mm256_zeroupper();
    return kwire_folded(p, state, at, end);
}

static uint32_t kwire_crc32c_avx512(uint32_t crc, const uint8_t *at, size_t size)
{
    return size < KWIRE_WIDE ? kwire_crc32c_sse42(crc, at, size)
                             : kwire_fold_wide(&kwire_castagnoli, crc, at, size);
}

static uint32_t kwire_crc32_avx512(uint32_t crc, const uint8_t *at, size_t size)
{
    return size < KWIRE_WIDE ? kwire_crc32_sse42(crc, at, size)
                             : kwire_fold_wide(&kwire_ieee, crc, at, size);
}

static void kwire_cpuid(uint32_t leaf, uint32_t found[4])
{
#if defined(_MSC_VER)
    __cpuidex((int *)found, (int)leaf, 0);
#else
    __cpuid_count(leaf, 0, found[0], found[1], found[2], found[3]);
#endif
}

/* Return the register sets that the operating system saves for each thread. */
static uint64_t kwire_xcr0(void)
{
#if defined(_MSC_VER)
    return _xgetbv(0);
#else
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
#endif
}

static int kwire_has_sse42(void)
{
    uint32_t found[4];
    kwire_cpuid(1, found);
    return found[2] >> 20 & found[2] >> 1 & 1; /* SSE4.2, PCLMULQDQ */
}

static int kwire_has_avx512(void)
{
    uint32_t found[4];
    kwire_cpuid(0, found);
    if (found[0] < 7)
        return 0;
    kwire_cpuid(1, found);
    if (!(found[2] >> 27 & 1) || (kwire_xcr0() & 0xe6) != 0xe6)
        return 0;
    kwire_cpuid(7, found);
    return found[1] >> 16 & found[2] >> 10 & 1; /* AVX512F, VPCLMULQDQ */
}

static void kwire_prepare_streams(void)
{
    uint8_t zeros[8] = {0};
    uint32_t power = 1;
    int words;
    for (words = 1; words <= 2 * KWIRE_LONG_STREAM; words++) {
        kwire_words_on[words] = power;
        power = kwire_crc32c_table(power, zeros, 8);
    }
}

#endif /* KWIRE_X86 */

/* ---- AArch64: one instruction for each polynomial. ---- */

#ifdef KWIRE_ARM

#if defined(_MSC_VER)
#define KWIRE_TARGET_CRC
#define kwire_arm_crc32cd __crc32cd
#define kwire_arm_crc32cb __crc32cb
#define kwire_arm_crc32d __crc32d
#define kwire_arm_crc32b __crc32b
#elif defined(__clang__)
#define KWIRE_TARGET_CRC KWIRE_TARGET("crc")
#define kwire_arm_crc32cd __builtin_arm_crc32cd
#define kwire_arm_crc32cb __builtin_arm_crc32cb
#define kwire_arm_crc32d __builtin_arm_crc32d
#define kwire_arm_crc32b __builtin_arm_crc32b
#else
#define KWIRE_TARGET_CRC KWIRE_TARGET("+crc")
#define kwire_arm_crc32cd __builtin_aarch64_crc32cx
#define kwire_arm_crc32cb __builtin_aarch64_crc32cb
#define kwire_arm_crc32d __builtin_aarch64_crc32x
#define kwire_arm_crc32b __builtin_aarch64_crc32b
#endif

KWIRE_TARGET_CRC
static uint32_t kwire_crc32c_arm(uint32_t crc, const uint8_t *at, size_t size)
{
    for (; size >= 8; at += 8, size -= 8)
        crc = kwire_arm_crc32cd(crc, kwire_little_endian(at));
    for (; size > 0; at++, size--)
        crc = kwire_arm_crc32cb(crc, *at);
    return crc;
}

KWIRE_TARGET_CRC
static uint32_t kwire_crc32_arm(uint32_t crc, const uint8_t *at, size_t size)
{
    for (; size >= 8; at += 8, size -= 8)
        crc = kwire_arm_crc32d(crc, kwire_little_endian(at));
    for (; size > 0; at++, size--)
        crc = kwire_arm_crc32b(crc, *at);
    return crc;
}

static int kwire_has_arm_crc(void)
{
#if defined(__APPLE__) || defined(__ARM_FEATURE_CRC32)
    return 1;
#elif defined(_MSC_VER)
    return IsProcessorFeaturePresent(PF_ARM_V8_CRC32_INSTRUCTIONS_AVAILABLE) != 0;
#elif defined(__linux__)
    return getauxval(AT_HWCAP) >> 7 & 1; /* HWCAP_CRC32 */
#else
    return 0;
#endif
}

#endif /* KWIRE_ARM */

/* ---- Selection of the implementations that this machine supports. ---- */

/* Implementations that this machine supports, fastest first. */
static kwire_checksums kwire_usable[3];
static int kwire_usable_count;

static uint32_t kwire_power_of_x(uint32_t reversed, int exponent)
{
    uint32_t power = 0x80000000;
    for (; exponent > 0; exponent--)
        power = power >> 1 ^ (power & 1 ? reversed : 0);
    return power;
}

/* The product of two reflected 64-bit words is one power of x too low in 128 bits,
   hence the exponent minus 1. The first half is 64 powers higher than the second
   half. */
static void kwire_prepare_move(const kwire_polynomial *p, uint64_t by[2], int bits)
{
    by[0] = (uint64_t)kwire_power_of_x(p->reversed, bits + 64 - 1) << 32;
    by[1] = (uint64_t)kwire_power_of_x(p->reversed, bits - 1) << 32;
}

static void kwire_prepare(kwire_polynomial *p)
{
    uint32_t rest = p->reversed;
    int byte, table, power;
    p->barrett[0] = 1;
    for (power = 1; power <= 32; power++) {
        p->barrett[0] |= (uint64_t)(rest & 1) << power;
        rest = rest >> 1 ^ (rest & 1 ? p->reversed : 0);
    }
    p->barrett[1] = (uint64_t)p->reversed << 1 | 1;
    for (byte = 0; byte < 256; byte++) {
        uint32_t crc = (uint32_t)byte;
        int bit;
        for (bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? p->reversed : 0);
        p->table[0][byte] = crc;
    }
    for (table = 1; table < 8; table++)
        for (byte = 0; byte < 256; byte++) {
            uint32_t crc = p->table[table - 1][byte];
            p->table[table][byte] = crc >> 8 ^ p->table[0][crc & 255];
        }
    p->by_64[0] = (uint64_t)kwire_power_of_x(p->reversed, 96 - 1) << 32;
    p->by_64[1] = (uint64_t)kwire_power_of_x(p->reversed, 64 - 1) << 32;
    kwire_prepare_move(p, p->by_128, 128);
    kwire_prepare_move(p, p->by_512, 512);
    kwire_prepare_move(p, p->by_2048, 2048);
}

static void kwire_add(const char *name, kwire_kernel crc32c, kwire_kernel crc32)
{
    kwire_checksums added = {name, crc32c, crc32};
    kwire_usable[kwire_usable_count++] = added;
}

static void kwire_prepare_checksums(void)
{
    kwire_usable_count = 0;
    kwire_prepare(&kwire_castagnoli);
    kwire_prepare(&kwire_ieee);
#ifdef KWIRE_X86
    kwire_prepare_streams();
    if (kwire_has_sse42() && kwire_has_avx512())
        kwire_add("avx512", kwire_crc32c_avx512, kwire_crc32_avx512);
    if (kwire_has_sse42())
        kwire_add("sse42", kwire_crc32c_sse42, kwire_crc32_sse42);
#endif
#ifdef KWIRE_ARM
    if (kwire_has_arm_crc())
        kwire_add("arm", kwire_crc32c_arm, kwire_crc32_arm);
#endif
    kwire_add("table", kwire_crc32c_table, kwire_crc32_table);
}

#endif
