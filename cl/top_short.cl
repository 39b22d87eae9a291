/* The k first keys of each short segment in order, and their positions: by one group per segment, which reads its
 * keys once.
 *
 * This is the radix select of select_segments.cl, but each work-item keeps its contiguous keys, and counting stops
 * as soon as possible. The selected keys are stored in local memory, and put in order there.
 *
 *   SEGMENT  most keys of a segment
 *   FIRST    most keys that are selected per segment
 *   ROWS     1: all segments have the same length, and need no offsets
 */
#include "find_bin.clh"
#include "key_codec.clh"

#if !defined(SEGMENT) || !defined(FIRST) || !defined(ROWS)
# error "SEGMENT, FIRST and ROWS: set by src/primitives/top-short.ts"
#endif
#define SELECT_BITS 8
#define SELECT_BINS (1u << SELECT_BITS)
/* Keys per work-item. */
#define SHARE ((SEGMENT + GROUP_SIZE - 1) / GROUP_SIZE)

#if ROWS
# define SEGMENT_PARAMETERS uint row, uint k, __global uint *begins
#else
# define SEGMENT_PARAMETERS __global const uint *offsets, __global const uint *begins
#endif

/* @param row, k         keys of a segment, and most of its keys to select
 * @param offsets        non-decreasing from 0 to n
 * @param begins         start of each segment's first keys, then their total number; written if segments are rows
 * @param from_segment   1: positions count from the start of each segment
 * @post  first, positions = the first keys of each segment in order, and their positions */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void top_short(__global const key_t *keys, SEGMENT_PARAMETERS, __global key_t *first, __global uint *positions, ulong n,
               uint from_segment, codec_t codec)
{
    __local uint bins[SELECT_BINS], scratch[WORK_GROUP_SCAN_WORDS], where[FIRST], found_bin[3];
    __local code_t chosen[FIRST];
    const uint item = (uint)get_local_id(0), segment = (uint)get_group_id(0);
#if ROWS
    const uint start = segment * row, length = min(row, (uint)SEGMENT), wanted = min(min(k, length), (uint)FIRST);
    const uint to = segment * wanted;
    if (item == 0) {
        begins[segment] = to;
        if (segment == get_num_groups(0) - 1)
            begins[segment + 1] = to + wanted;
    }
#else
    /* Not beyond the array or the group's capacity, even if the offsets have changed since they were checked. */
    const uint last = (uint)min((ulong)offsets[segment + 1], n), start = min(offsets[segment], last);
    const uint length = min(last - start, (uint)SEGMENT), to = begins[segment];
    const uint wanted = min(min(begins[segment + 1] - to, length), (uint)FIRST);
#endif
    if (wanted == 0)
        return;

    const uint own = item * SHARE;
    code_t codes[SHARE];
    uint agrees[SHARE]; /* with the known digits of the threshold */
#pragma unroll
    for (uint i = 0; i < SHARE; i++) {
        agrees[i] = own + i < length;
        codes[i] = agrees[i] ? encode_key(keys[start + own + i], codec) : CODE_MAX;
    }

    code_t threshold = 0;
    uint candidates = length, missing = wanted; /* keys that match it, and how many of them are selected */
    for (uint shift = KEY_BITS; shift > 0 && missing < candidates;) {
        shift -= SELECT_BITS;
        for (uint bin = item; bin < SELECT_BINS; bin += GROUP_SIZE)
            bins[bin] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint i = 0; i < SHARE; i++) {
            if (agrees[i])
                atomic_inc(&bins[code_digit(codes[i], shift, SELECT_BITS)]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        find_bin(bins, SELECT_BINS, missing - 1, scratch, found_bin);
        const uint digit = found_bin[0];
        threshold |= (code_t)digit << shift;
        missing -= found_bin[1];
        candidates = found_bin[2];
#pragma unroll
        for (uint i = 0; i < SHARE; i++)
            agrees[i] &= code_digit(codes[i], shift, SELECT_BITS) == digit;
    }

    uint below = 0, equal = 0;
#pragma unroll
    for (uint i = 0; i < SHARE; i++) {
        below += codes[i] < threshold;
        equal += agrees[i];
    }
    /* Two counts in one word: a segment has fewer than 2^16 keys. */
    const uint selected_before = work_group_scan(below | equal << 16, GROUP_SIZE, scratch);
    below = selected_before & 0xffff;
    equal = selected_before >> 16;
#pragma unroll
    for (uint i = 0; i < SHARE; i++) {
        const bool is_below = codes[i] < threshold;
        if (is_below || (agrees[i] && equal < missing)) {
            const uint place = below + min(equal, missing);
            chosen[place] = codes[i];
            where[place] = own + i;
        }
        below += is_below;
        equal += agrees[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wanted <= GROUP_SIZE) {
        /* Each work-item counts the keys before its own. */
        if (item < wanted) {
            const code_t code = chosen[item];
            uint place = 0;
            for (uint other = 0; other < wanted; other++)
                place += chosen[other] < code || (chosen[other] == code && other < item);
            first[to + place] = decode_key(code, codec);
            positions[to + place] = where[item] + (from_segment ? 0 : start);
        }
        return;
    }
    /* A bitonic sort by code, then position. Codes after the last one come last. */
    uint padded = 1;
    while (padded < wanted)
        padded *= 2;
    for (uint one = wanted + item; one < padded; one += GROUP_SIZE) {
        chosen[one] = CODE_MAX;
        where[one] = 0xffffffff;
    }
    for (uint size = 2; size <= padded; size *= 2) {
        for (uint distance = size / 2; distance > 0; distance /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint pair = item; pair < padded / 2; pair += GROUP_SIZE) {
                const uint one = 2 * pair - (pair & (distance - 1)), other = one + distance;
                const code_t code = chosen[one], other_code = chosen[other];
                const uint at = where[one], other_at = where[other];
                const bool descends = code > other_code || (code == other_code && at > other_at);
                if (descends == ((one & size) == 0)) {
                    chosen[one] = other_code;
                    chosen[other] = code;
                    where[one] = other_at;
                    where[other] = at;
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint one = item; one < wanted; one += GROUP_SIZE) {
        first[to + one] = decode_key(chosen[one], codec);
        positions[to + one] = where[one] + (from_segment ? 0 : start);
    }
}
