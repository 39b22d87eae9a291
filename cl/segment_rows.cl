/* Segmented sort: which kernel sorts which segment, and the sort of the short ones.
 *
 *   segment_classes  a work-item looks at each segment. A tiny one it sorts by itself, in its registers; the number of any
 *                    other goes to the list of its class, by which the next kernels find those that they are for
 *   segment_rows     32 work-items sort a segment of up to 64 keys
 *
 * Both place a key by counting those that come before it (an enumeration sort: D. E. Muller, F. P. Preparata, "Bounds to
 * Complexities of Networks for Sorting and for Switching", 1975): for so few keys that takes less than passes by digits.
 *
 *   GROUP_SIZE  work-items of a group, a multiple of 32
 */
#include "comparison.clh"
#include "segments.clh"

#define CLASSES 4 /* rows, small tiles, tiles, runs: what is longer is cut */
#define TINY 8
#define LANES 32u
#define ROW 64u
#define KEYS (ROW / LANES) /* of a work-item in a row */
#define ROWS (GROUP_SIZE / LANES)

/* @return what is compared of a key */
INLINE code_t digit_of(key_t key, uint begin, code_t mask, codec_t codec, uint flags)
{
    return ((flags & FLAG_ENCODE ? encode_key(key, codec) : (code_t)key) >> begin) & mask;
}

#if HAS_VALUES
INLINE value_t value_beside(__global const value_t *values, uint first, uint i, uint flags)
{
    if (flags & FLAG_POSITIONS)
        return position_value(flags & FLAG_FROM_SEGMENT ? i : first + i);
    return values[first + i];
}
#endif

/* Sort a tiny segment alone. May work in place. */
INLINE void sort_tiny(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                      __global const value_t *values, __global value_t *values_out,
#endif
                      segment_t segment, uint begin, code_t mask, codec_t codec, uint flags)
{
    key_t own[TINY];
    code_t digits[TINY];
#if HAS_VALUES
    value_t beside[TINY];
#endif
#pragma unroll
    for (uint i = 0; i < TINY; i++) {
        if (i < segment.length) {
            own[i] = keys[segment.first + i];
            digits[i] = digit_of(own[i], begin, mask, codec, flags);
#if HAS_VALUES
            beside[i] = value_beside(values, segment.first, i, flags);
#endif
        }
    }
#pragma unroll
    for (uint i = 0; i < TINY; i++) {
        if (i < segment.length) {
            uint before = 0;
#pragma unroll
            for (uint j = 0; j < TINY; j++)
                if (j != i && j < segment.length)
                    before += j < i ? digits[j] <= digits[i] : digits[j] < digits[i];
            keys_out[segment.first + before] = own[i];
#if HAS_VALUES
            values_out[segment.first + before] = beside[i];
#endif
        }
    }
}

/* @param most      most keys of a segment of each class
 * @param lists_at  where the list of each class begins in `lists`, and at last where they end
 * @param told      word `at` gets what is wrong with the offsets
 * @param runs      runs that there is room for in `owners`
 * @param run_keys  keys of a run of the segments that are cut
 */
GROUP_KERNEL void segment_classes(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                                  __global const value_t *values, __global value_t *values_out,
#endif
                                  __global const uint *offsets, __global uint *state, __global uint *lists,
                                  __global uint2 *owners, __global uint *told, uint at, uint segments, uint n, uint4 most,
                                  uint8 lists_at, uint runs, uint run_keys, uint begin, code_t mask, codec_t codec,
                                  uint flags)
{
    __local uint counts[CLASSES], places[CLASSES];
    const uint item = (uint)get_local_id(0), s = (uint)get_global_id(0);
    if (item < CLASSES)
        counts[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    segment_t segment;
    segment.first = segment.length = 0;
    if (s < segments)
        segment = checked_segment(offsets, s, segments, n, state, told, at);
    const uint length = segment.length;
    const uint kind = length <= most.s0   ? 0
                      : length <= most.s1 ? 1
                      : length <= most.s2 ? 2
                      : length <= most.s3 ? 3
                                          : CLASSES;
    const bool listed = length > TINY && kind < CLASSES;
    uint place = 0;
    if (listed)
        place = atomic_inc(&counts[kind]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < CLASSES && counts[item] > 0)
        places[item] = atomic_add(&state[STATE_LISTS + item], counts[item]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (listed) {
        const uint lists_begin = kind == 0 ? lists_at.s0 : kind == 1 ? lists_at.s1 : kind == 2 ? lists_at.s2 : lists_at.s3;
        const uint lists_end = kind == 0 ? lists_at.s1 : kind == 1 ? lists_at.s2 : kind == 2 ? lists_at.s3 : lists_at.s4;
        place += places[kind];
        if (place < lists_end - lists_begin) /* offsets that are wrong may make more */
            lists[lists_begin + place] = s;
    } else if (length > TINY) {
        cut_segment(s, length, run_keys, state, owners, runs);
    } else if (length > 0) {
        sort_tiny(keys, keys_out,
#if HAS_VALUES
                  values, values_out,
#endif
                  segment, begin, mask, codec, flags);
    }
}

/* @param list  numbers of the segments */
GROUP_KERNEL void segment_rows(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                               __global const value_t *values, __global value_t *values_out,
#endif
                               __global const uint *offsets, __global const uint *state, __global const uint *list,
                               uint begin, code_t mask, codec_t codec, uint flags)
{
    __local code_t digits[ROWS * ROW];
    const uint item = (uint)get_local_id(0), lane = item % LANES, row = item / LANES;
    const uint count = state[STATE_INVALID] ? 0 : state[STATE_LISTS];
    __local code_t *in_row = digits + row * ROW;
    for (uint listed = (uint)get_group_id(0) * ROWS; listed < count; listed += (uint)get_num_groups(0) * ROWS) {
        uint first = 0, length = 0;
        if (listed + row < count) {
            const uint s = list[listed + row];
            first = offsets[s];
            length = offsets[s + 1] - first;
        }
        key_t own[KEYS];
#if HAS_VALUES
        value_t beside[KEYS];
#endif
#pragma unroll
        for (uint k = 0; k < KEYS; k++) {
            const uint i = k * LANES + lane;
            if (i < length) {
                own[k] = keys[first + i];
                in_row[i] = digit_of(own[k], begin, mask, codec, flags);
#if HAS_VALUES
                beside[k] = value_beside(values, first, i, flags);
#endif
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0; k < KEYS; k++) {
            const uint i = k * LANES + lane;
            if (i < length) {
                const code_t digit = in_row[i];
                uint before = 0;
                for (uint j = 0; j < i; j++)
                    before += in_row[j] <= digit;
                for (uint j = i + 1; j < length; j++)
                    before += in_row[j] < digit;
                keys_out[first + before] = own[k];
#if HAS_VALUES
                values_out[first + before] = beside[k];
#endif
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
