/* Segmented sort: assigns each segment to a kernel, and sorts the short ones.
 *
 *   segment_classes  a row of 32 work-items reads up to 32 segments. The work-item that reads a tiny segment sorts it
 *                    in its registers; the row sorts those of up to 64 keys, several at once; the index of any other
 *                    segment goes to the list of its class, for the following kernels
 *
 * A key is placed by counting the keys that come before it (an enumeration sort: D. E. Muller, F. P. Preparata,
 * "Bounds to Complexities of Networks for Sorting and for Switching", 1975), which takes less than passes by digits
 * for so few keys. All lanes read the same codes of local memory at once, and rows that synchronize independently
 * wait for nothing else. Equal keys without values are indistinguishable. They pass through a network instead if
 * rows have shuffles: 15 steps for 32 keys, where counting takes 32.
 *
 *   GROUP_SIZE   work-items of a group, a multiple of 32
 *   INLINE_PTX   1: NVIDIA, whose rows synchronize independently and have shuffles; 0: the group waits
 *   ROW_NETWORK  1: keys without values pass through a network; without shuffles in tests only
 */
#include "comparison.clh"
#include "segments.clh"

#define SLOTS 4u /* of 32 keys each, which a row sorts at once */
#include "row_network.clh"

#ifndef ROW_NETWORK
# error "ROW_NETWORK: 0 or 1, set by src/algorithms/segments-in-groups.ts"
#endif

#define CLASSES 3 /* small tiles, tiles, passes; longer segments are cut */
#define TINY 8
#define LANES ((uint)ROW_ITEMS)
#define ROW_KEYS 64u
#define GROUP_ROWS (GROUP_SIZE / LANES)

/* Codes in the form in which local memory is read. */
#if KEY_BITS == 64
typedef ulong4 codes_t;
#else
typedef uint4 codes_t;
#endif
#define CODES 4u

#if HAS_VALUES
# define VALUE_PARAMETERS __global const value_t *values, __global value_t *values_out,
# define VALUE_ARGUMENTS values, values_out,
#else
# define VALUE_PARAMETERS
# define VALUE_ARGUMENTS
#endif

/* @return the compared bits of a key */
INLINE code_t digit_of(key_t key, uint begin, code_t mask, codec_t codec, uint flags)
{
    return (code_of(key, codec, flags) >> begin) & mask;
}

#if HAS_VALUES
INLINE value_t value_beside(__global const value_t *values, uint first, uint i, uint flags)
{
    if (flags & FLAG_POSITIONS)
        return position_value(flags & FLAG_FROM_SEGMENT ? i : first + i);
    return values[first + i];
}
#endif

/* Sorts a tiny segment with one work-item. May work in place. */
INLINE void sort_tiny(__global const key_t *keys, __global key_t *keys_out, VALUE_PARAMETERS segment_t segment, uint begin,
                      code_t mask, codec_t codec, uint flags)
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

/* @return whether code c at index j of its segment comes before code `mine` at index i */
INLINE uint comes_before(code_t c, uint j, code_t mine, uint i)
{
#if KEY_BITS == 64
    return c < mine || (c == mine && j < i);
#else
    return ((ulong)c << 32 | j) < ((ulong)mine << 32 | i);
#endif
}

/* @return segment `which` of those that a row sorts, or an empty one if there are fewer
 * @param segments  of this row: from the front those for one slot each, from the back those for two */
INLINE segment_t segment_in_row(__local const segment_t *segments, const uint slots, uint count, uint which)
{
    segment_t segment;
    segment.first = segment.length = 0;
    if (which < count)
        segment = segments[slots == 1 ? which : LANES - 1 - which];
    return segment;
}

/* Sorts `count` segments of up to 32 * `slots` keys with a row, as many at once as fit. May work in place.
 * @param slots  1 or 2, a constant: keys of a work-item in each segment
 * @param turns  number of iterations: enough for `count`, and the same for all rows that share a barrier
 * @param codes  holds SLOTS * 32 codes of this row */
INLINE void count_in_row(__global const key_t *keys, __global key_t *keys_out,
                         VALUE_PARAMETERS __local const segment_t *segments, const uint slots, uint count, uint turns,
                         __local codes_t *codes, uint begin, code_t mask, codec_t codec, uint flags)
{
    const uint lane = (uint)get_local_id(0) % LANES;
    __local code_t *each = (__local code_t *)codes;
    for (uint turn = 0; turn < turns; turn++) {
        uint first[SLOTS], length[SLOTS], before[SLOTS];
        key_t own[SLOTS];
        code_t mine[SLOTS];
#if HAS_VALUES
        value_t beside[SLOTS];
#endif
        /* All loads are issued before any result is needed. */
#pragma unroll
        for (uint slot = 0; slot < SLOTS; slot++) {
            const uint i = slot % slots * LANES + lane;
            const segment_t segment = segment_in_row(segments, slots, count, turn * (SLOTS / slots) + slot / slots);
            first[slot] = segment.first;
            length[slot] = segment.length;
            before[slot] = 0;
            if (i < length[slot]) {
                own[slot] = keys[first[slot] + i];
#if HAS_VALUES
                beside[slot] = value_beside(values, first[slot], i, flags);
#endif
            }
        }
#pragma unroll
        for (uint slot = 0; slot < SLOTS; slot++) {
            mine[slot] = ~(code_t)0; /* after all others */
            if (slot % slots * LANES + lane < length[slot])
                mine[slot] = digit_of(own[slot], begin, mask, codec, flags);
            each[slot * LANES + lane] = mine[slot];
        }
        row_barrier();
#pragma unroll 1 /* all codes at once would take more registers than available */
        for (uint at = 0; at < slots * LANES; at += CODES) {
#pragma unroll
            for (uint slot = 0; slot < SLOTS; slot++) {
                const uint i = slot % slots * LANES + lane;
                const codes_t others = codes[(slot / slots * slots * LANES + at) / CODES];
                before[slot] += comes_before(others.s0, at, mine[slot], i) + comes_before(others.s1, at + 1, mine[slot], i) +
                                comes_before(others.s2, at + 2, mine[slot], i) +
                                comes_before(others.s3, at + 3, mine[slot], i);
            }
        }
#pragma unroll
        for (uint slot = 0; slot < SLOTS; slot++) {
            if (slot % slots * LANES + lane < length[slot]) {
                keys_out[first[slot] + before[slot]] = own[slot];
#if HAS_VALUES
                values_out[first[slot] + before[slot]] = beside[slot];
#endif
            }
        }
        row_barrier();
    }
}

#if ROW_NETWORK && !HAS_VALUES
/* Sorts `count` segments as above, for whole keys without values. */
INLINE void merge_in_row(__global const key_t *keys, __global key_t *keys_out, __local const segment_t *segments,
                         const uint slots, uint count, uint turns, __local codes_t *room, codec_t codec, uint flags)
{
    const uint lane = (uint)get_local_id(0) % LANES;
    for (uint turn = 0; turn < turns; turn++) {
        uint first[SLOTS], length[SLOTS];
        key_t own[SLOTS];
        code_t codes[SLOTS];
        /* All loads are issued before any result is needed. */
# pragma unroll
        for (uint slot = 0; slot < SLOTS; slot++) {
            const uint i = slot % slots * LANES + lane;
            const segment_t segment = segment_in_row(segments, slots, count, turn * (SLOTS / slots) + slot / slots);
            first[slot] = segment.first;
            length[slot] = segment.length;
            if (i < length[slot])
                own[slot] = keys[first[slot] + i];
        }
# pragma unroll
        for (uint slot = 0; slot < SLOTS; slot++) {
            codes[slot] = ~(code_t)0; /* after all others, or equal to them */
            if (slot % slots * LANES + lane < length[slot])
                codes[slot] = code_of(own[slot], codec, flags);
        }
        sort_by_network(codes, slots, (__local code_t *)room);
# pragma unroll
        for (uint slot = 0; slot < SLOTS; slot++) {
            const uint i = slot % slots * LANES + lane;
            if (i < length[slot])
                store_code(keys_out, first[slot] + i, codes[slot], codec, flags);
        }
    }
}
#endif

/* @param span      segments that a row reads, at most 32
 * @param each      keys of every segment; none is listed then, and the offsets are not read. 0: the offsets apply
 * @param most      most keys of a segment of each class
 * @param lists_at  start of each class's list in `lists`, then the end of the last one
 * @param result_words      word `at` receives offset errors
 * @param runs      capacity of `owners` in runs
 * @param run_keys  keys of a run of the segments that are cut
 */
GROUP_KERNEL void segment_classes(__global const key_t *keys, __global key_t *keys_out,
                                  VALUE_PARAMETERS __global const uint *offsets, __global uint *state, __global uint *lists,
                                  __global uint2 *owners, __global uint *result_words, uint at, uint segments, uint n,
                                  uint each, uint span, uint4 most, uint4 lists_at, uint runs, uint run_keys, uint begin,
                                  code_t mask, codec_t codec, uint flags)
{
    __local uint counts[CLASSES], places[CLASSES];
    /* The segments that each row sorts: those of up to 32 keys from the front, the others from the back. */
    __local segment_t in_rows[GROUP_ROWS * LANES];
    __local uint fronts[GROUP_ROWS], backs[GROUP_ROWS];
    __local codes_t codes[GROUP_ROWS * SLOTS * LANES / CODES];
    const uint item = (uint)get_local_id(0), lane = item % LANES, row = item / LANES;
    const uint s = ((uint)get_group_id(0) * GROUP_ROWS + row) * span + lane;
    if (item < CLASSES)
        counts[item] = 0;
    if (lane == 0)
        fronts[row] = backs[row] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    segment_t segment;
    segment.first = segment.length = 0;
    if (lane < span && s < segments)
        segment = each ? row_segment(s, each) : checked_segment(offsets, s, segments, n, state, result_words, at);
    const uint length = segment.length;
    const uint kind = length <= most.s0 ? 0 : length <= most.s1 ? 1 : length <= most.s2 ? 2 : CLASSES;
    const bool listed = length > ROW_KEYS && kind < CLASSES;
    uint place = 0;
    if (listed)
        place = atomic_inc(&counts[kind]);
    else if (length > LANES && length <= ROW_KEYS)
        in_rows[row * LANES + LANES - 1 - atomic_inc(&backs[row])] = segment;
    else if (length > TINY && length <= LANES)
        in_rows[row * LANES + atomic_inc(&fronts[row])] = segment;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < CLASSES && counts[item] > 0)
        places[item] = atomic_add(&state[STATE_LISTS + item], counts[item]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (listed) {
        const uint lists_begin = kind == 0 ? lists_at.s0 : kind == 1 ? lists_at.s1 : lists_at.s2;
        const uint lists_end = kind == 0 ? lists_at.s1 : kind == 1 ? lists_at.s2 : lists_at.s3;
        place += places[kind];
        if (place < lists_end - lists_begin) /* invalid offsets may yield more */
            lists[lists_begin + place] = s;
    } else if (length > ROW_KEYS) {
        cut_segment(s, length, run_keys, state, owners, runs);
    } else if (length > 0 && length <= TINY) {
        sort_tiny(keys, keys_out, VALUE_ARGUMENTS segment, begin, mask, codec, flags);
    }

    const uint front = fronts[row], back = backs[row];
    uint max_front = front, max_back = back;
#if !HAS_ROWS
    for (uint other = 0; other < GROUP_ROWS; other++) {
        max_front = max(max_front, fronts[other]);
        max_back = max(max_back, backs[other]);
    }
#endif
    __local codes_t *own = codes + row * (SLOTS * LANES / CODES);
    __local const segment_t *listed_here = in_rows + row * LANES;
    const uint front_passes = (max_front + SLOTS - 1) / SLOTS, back_passes = (max_back + SLOTS / 2 - 1) / (SLOTS / 2);
#if ROW_NETWORK && !HAS_VALUES
    if (begin == 0 && mask == CODE_MAX) {
        merge_in_row(keys, keys_out, listed_here, 1, front, front_passes, own, codec, flags);
        merge_in_row(keys, keys_out, listed_here, 2, back, back_passes, own, codec, flags);
        return;
    }
#endif
    count_in_row(keys, keys_out, VALUE_ARGUMENTS listed_here, 1, front, front_passes, own, begin, mask, codec, flags);
    count_in_row(keys, keys_out, VALUE_ARGUMENTS listed_here, 2, back, back_passes, own, begin, mask, codec, flags);
}
