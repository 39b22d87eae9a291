/* Verification of a sort: the result is sorted and a permutation of the input.
 *
 * One pass over the keys (and their values) counts neighbours out of order and sums a 64-bit hash of every element.
 * The sum does not depend on the order, so input and output of a sort must agree on it. A lost, duplicated or
 * altered element changes it, and so does a value that moved to another key.
 *
 * Set by src/sort/verification/verify.ts, besides the macros of common.clh:
 *   LOCAL_SIZE  work-items of a group, a power of two
 *   SEGMENTS    1: a segmented sort. Order is only checked within segments, and the hash of an element depends on its
 *               segment, so an element that moved to another segment is detected
 */
#include "key_codec.clh"
#include "group_sums.clh"
#ifndef SEGMENTS
# error "SEGMENTS: 0 or 1, set by src/sort/verification/verify.ts"
#endif
#if SEGMENTS
# include "segment_of.clh"
#endif

#define VERIFY_ORDER 1u   /* count neighbours out of order */
#define VERIFY_INDICES 2u /* values are positions: generated (input), or checked for stability (output) */
#define VERIFY_FROM_SEGMENT 4u /* positions count from the start of each segment */

#if HAS_VALUES
INLINE ulong hash_pair(key_t key, value_t value)
{
    ulong hash = hash_key(key);
# if VALUE_BYTES == 16
    hash = mix(hash + (((ulong)value.s1 << 32) | value.s0));
    return mix(hash + (((ulong)value.s3 << 32) | value.s2));
# elif VALUE_BYTES == 8
    return mix(hash + (((ulong)value.s1 << 32) | value.s0));
# else
    return mix(hash + value);
# endif
}
#endif

/* Elements that a group checks completely before it continues. */
#define BLOCK (LOCAL_SIZE == 1 ? 2048 : 16 * LOCAL_SIZE)

/* Each group takes `per_group` neighbouring elements.
 * @post partials[2 * group] = sum of hashes (mod 2^64), partials[2 * group + 1] = neighbours out of order */
CHECK_KERNEL
void verify(__global const key_t *keys,
#if HAS_VALUES
            __global const value_t *values,
#endif
#if SEGMENTS
            __global const uint *offsets, uint segments,
#endif
            __global ulong *partials, ulong n, ulong per_group, codec_t codec, uint begin, uint bits, uint flags)
{
    __local ulong sums[2 * LOCAL_SIZE];
    const uint lid = get_local_id(0);
    const ulong first = get_group_id(0) * per_group;
    const ulong last = min(first + per_group, n);
#if !SEGMENTS
    const bool order = (flags & VERIFY_ORDER) && bits > 0;
#endif
    const code_t mask = bits >= KEY_BITS ? CODE_MAX : (code_t)(((code_t)1 << bits) - 1);
    ulong hashes = 0, inversions = 0;

#if SEGMENTS
    segment_t segment;
    segment.number = 0;
    segment.first = segment.last = 0;
    for (ulong i = first + lid; i < last; i += LOCAL_SIZE) {
        if (i < segment.first || i >= segment.last)
            segment = segment_of(i, offsets, segments);
        ulong hash = hash_key(keys[i]);
# if HAS_VALUES
        value_t value;
#  if VALUE_BYTES == 4
        if ((flags & VERIFY_INDICES) && !(flags & VERIFY_ORDER))
            value = (uint)(i - (flags & VERIFY_FROM_SEGMENT ? segment.first : 0));
        else
#  endif
            value = values[i];
        hash = hash_pair(keys[i], value);
# endif
        hashes += mix(hash + segment.number);
        if (!(flags & VERIFY_ORDER) || i + 1 >= min(n, segment.last))
            continue;
        const code_t here = bits == 0 ? 0 : (encode_key(keys[i], codec) >> begin) & mask;
        const code_t next = bits == 0 ? 0 : (encode_key(keys[i + 1], codec) >> begin) & mask;
        inversions += here > next;
# if HAS_VALUES && VALUE_BYTES == 4
        if (flags & VERIFY_INDICES)
            inversions += (here == next) & (values[i] >= values[i + 1]);
# endif
    }
#else
    /* Block by block, so that the loops after the first read from the cache. One simple loop per check: CPU
     * compilers vectorize these. */
    for (ulong block = first; block < last; block += BLOCK) {
        const uint count = (uint)min((ulong)BLOCK, last - block);
        __global const key_t *own = keys + block;
#if HAS_VALUES
        __global const value_t *beside = values + block;
# if VALUE_BYTES == 4
        if ((flags & VERIFY_INDICES) && !(flags & VERIFY_ORDER)) {
            for (uint i = lid; i < count; i += LOCAL_SIZE)
                hashes += hash_pair(own[i], (uint)(block + i));
        } else
# endif
            for (uint i = lid; i < count; i += LOCAL_SIZE)
                hashes += hash_pair(own[i], beside[i]);
#else
        for (uint i = lid; i < count; i += LOCAL_SIZE)
            hashes += hash_key(own[i]);
#endif
        if (!order)
            continue;
        /* The last key has no successor. */
        const uint pairs = block + count < n ? count : count - 1;
        uint wrong = 0;
        if (CODEC_IS_IDENTITY(codec) && mask == CODE_MAX) {
            for (uint i = lid; i < pairs; i += LOCAL_SIZE)
                wrong += own[i] > own[i + 1];
        } else {
            for (uint i = lid; i < pairs; i += LOCAL_SIZE) {
                const code_t here = (encode_key(own[i], codec) >> begin) & mask;
                const code_t next = (encode_key(own[i + 1], codec) >> begin) & mask;
                wrong += here > next;
            }
        }
#if HAS_VALUES && VALUE_BYTES == 4
        if (flags & VERIFY_INDICES) {
            for (uint i = lid; i < pairs; i += LOCAL_SIZE) {
                const code_t here = (encode_key(own[i], codec) >> begin) & mask;
                const code_t next = (encode_key(own[i + 1], codec) >> begin) & mask;
                wrong += (here == next) & (beside[i] >= beside[i + 1]);
            }
        }
#endif
        inversions += wrong;
    }
#endif
    leave_sums(sums, hashes, inversions, partials);
}
