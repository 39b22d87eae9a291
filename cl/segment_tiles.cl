/* Segmented sort of the segments that take one or more work-groups.
 *
 *   segment_tiles   a group sorts a segment of at most a tile in registers and local memory
 *   segment_passes  a group sorts a longer one by passes through global memory
 *   segment_counts  counts one digit of each run of the segments that are cut
 *   segment_places  scans the counts of each of these segments
 *   segment_move    moves the keys of each run to their positions in the segment
 *
 *   GROUP_SIZE, KEYS_PER_ITEM, RADIX_BITS, RANK  see digit_rank.clh
 *   OFFSET_BITS    32: fewer than 2^31 keys
 *   LONG_SEGMENTS  0: segment_tiles alone, for segments that are known to be short; 1: all kernels
 */
#include "run_move.clh"
#include "segments.clh"
#include "tile_sort.clh"

#if HAS_VALUES
# define VALUE_PARAMETERS __global const value_t *values_in, __global value_t *values_out,
#else
# define VALUE_PARAMETERS
#endif

/* @return segment `listed` of a list, or of all segments if every one has `each` elements */
INLINE segment_t listed_segment(__global const uint *offsets, __global const uint *list, uint listed, uint each)
{
    segment_t segment;
    if (each)
        return row_segment(listed, each);
    segment.first = offsets[list[listed]];
    segment.length = offsets[list[listed] + 1] - segment.first;
    return segment;
}

/* @param kind  class of the segments to sort
 * @param list  their indices
 * @param each  elements of every segment; neither offsets nor state nor lists are read then. 0: the listed segments
 *        are sorted */
TILE_KERNEL void segment_tiles(__global const key_t *keys_in, __global key_t *keys_out,
                               VALUE_PARAMETERS __global const uint *offsets, __global const uint *state,
                               __global const uint *lists, uint list_at, uint kind, uint segments, uint each, uint begin,
                               uint end, codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    const uint item = (uint)get_local_id(0);
    const uint count = each ? segments : state[STATE_INVALID] ? 0 : state[STATE_LISTS + kind];
    if (item == 0)
        memory[ZERO_AT / 4] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint listed = (uint)get_group_id(0); listed < count; listed += (uint)get_num_groups(0)) {
        const segment_t segment = listed_segment(offsets, lists + list_at, listed, each);
        const uint first = segment.first;
        sort_tile(memory, opaque(item, memory + ZERO_AT / 4), keys_in + first, keys_out + first,
#if HAS_VALUES
                  values_in + first, values_out + first, flags & FLAG_FROM_SEGMENT ? 0 : first,
#endif
                  segment.length, begin, end, codec, flags);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#ifndef LONG_SEGMENTS
# error "LONG_SEGMENTS: 0 or 1, set by src/algorithms/segments-in-groups.ts"
#endif
#if LONG_SEGMENTS
/* Sorts each listed segment by all digits of the window [begin, end). Its elements alternate between the output and
 * the alternate array.
 * @pre  keys_in is not keys_out if the number of passes is odd */
TILE_KERNEL void segment_passes(__global const key_t *keys_in, __global key_t *keys_out,
                                VALUE_PARAMETERS __global key_t *keys_alternate,
#if HAS_VALUES
                                __global value_t *values_alternate,
#endif
                                __global const uint *offsets, __global const uint *state, __global const uint *lists,
                                uint list_at, uint kind, uint segments, uint each, uint passes, uint begin, uint end,
                                codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    const uint item = (uint)get_local_id(0);
    const uint count = each ? segments : state[STATE_INVALID] ? 0 : state[STATE_LISTS + kind];
    if (item == 0)
        memory[ZERO_AT / 4] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint listed = (uint)get_group_id(0); listed < count; listed += (uint)get_num_groups(0)) {
        const segment_t segment = listed_segment(offsets, lists + list_at, listed, each);
        const uint first = segment.first, last = first + segment.length;
        uint shift = begin;
        for (uint pass = 0; pass < passes; pass++) {
            const uint bits = digit_bits(shift, end);
            const digit_t digit = digit_at(shift, bits, 2);
            shift += bits;
            const bool to_output = (passes - pass) % 2 == 1;
            const uint own = (pass == 0 ? flags & (FLAG_ENCODE | FLAG_POSITIONS | FLAG_FIRST) : 0) |
                             (pass + 1 == passes ? flags & FLAG_DECODE : 0);
            __global const key_t *from = pass == 0 ? keys_in : to_output ? keys_alternate : keys_out;
            __global key_t *to = to_output ? keys_out : keys_alternate;

#if HAS_VALUES
            __global const value_t *values_from = pass == 0 ? values_in : to_output ? values_alternate : values_out;
            __global value_t *values_to = to_output ? values_out : values_alternate;
            sort_run(memory, from, to, values_from, values_to, flags & FLAG_FROM_SEGMENT ? 0 : first, first, last, digit,
                     codec, own);
#else
            sort_run(memory, from, to, first, last, digit, codec, own);
#endif
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
    }
}

/* @param counts  of each segment that is cut: [bin][run] */
TILE_KERNEL void segment_counts(__global const key_t *restrict keys, __global const uint *offsets,
                                __global const uint *state, __global const uint2 *owners, __global uint *restrict counts,
                                uint run_keys, uint shift, uint bits, codec_t codec, uint flags)
{
    __local uint memory[BINS];
    const uint item = (uint)get_local_id(0), runs = state[STATE_INVALID] ? 0 : state[STATE_RUNS];
    for (uint r = (uint)get_group_id(0); r < runs; r += (uint)get_num_groups(0)) {
        const run_t run = run_of(r, owners, offsets, run_keys, BINS);
        count_run(memory, keys, run.start, run.end, digit_at(shift, bits, 2), codec, flags);
        for (uint bin = item; bin < BINS; bin += GROUP_SIZE)
            counts[run.counts_at + (size_t)bin * run.of + run.number] = memory[bin];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Counts that a work-item scans at a time. */
#define SCANNED 8

/* @post counts are positions: keys of the segment that precede the first key of the bin and run */
TILE_KERNEL void segment_places(__global const uint *offsets, __global const uint *state, __global const uint2 *owners,
                                __global uint *counts, uint run_keys)
{
    __local uint scratch[GROUP_SIZE];
    __local uint carried;
    const uint item = (uint)get_local_id(0), runs = state[STATE_INVALID] ? 0 : state[STATE_RUNS];
    for (uint r = (uint)get_group_id(0); r < runs; r += (uint)get_num_groups(0)) {
        const run_t run = run_of(r, owners, offsets, run_keys, BINS);
        const uint entries = run.number == 0 ? run.of * BINS : 0;
        __global uint *own = counts + run.counts_at;
        uint carry = 0;
        for (uint start = 0; start < entries; start += GROUP_SIZE * SCANNED) {
            uint values[SCANNED], sum = 0;
#pragma unroll
            for (uint k = 0; k < SCANNED; k++) {
                const uint i = start + item * SCANNED + k;
                values[k] = i < entries ? own[i] : 0;
                sum += values[k];
            }
            uint before = carry + work_group_scan(sum, GROUP_SIZE, scratch);
            if (item == GROUP_SIZE - 1)
                carried = before + sum;
#pragma unroll
            for (uint k = 0; k < SCANNED; k++) {
                const uint i = start + item * SCANNED + k;
                if (i < entries)
                    own[i] = before;
                before += values[k];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            carry = carried;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}

TILE_KERNEL void segment_move(__global const key_t *keys_in, __global key_t *keys_out,
                              VALUE_PARAMETERS __global const uint *offsets, __global const uint *state,
                              __global const uint2 *owners, __global const uint *counts, uint run_keys, uint shift,
                              uint bits, codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    const uint item = (uint)get_local_id(0), runs = state[STATE_INVALID] ? 0 : state[STATE_RUNS];
    if (item == 0)
        memory[ZERO_AT / 4] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = (uint)get_group_id(0); r < runs; r += (uint)get_num_groups(0)) {
        const run_t run = run_of(r, owners, offsets, run_keys, BINS);
        offset_t next[BINS_PER_ITEM];
#pragma unroll
        for (uint j = 0; j < BINS_PER_ITEM; j++) {
            const uint bin = item * BINS_PER_ITEM + j;
            next[j] =
                item < BIN_ITEMS ? (offset_t)(run.first + counts[run.counts_at + (size_t)bin * run.of + run.number]) : 0;
        }
#if HAS_VALUES
        move_run(memory, keys_in, keys_out, values_in, values_out, run.start - (flags & FLAG_FROM_SEGMENT ? run.first : 0),
                 run.start, run.end, next, digit_at(shift, bits, 2), codec, flags);
#else
        move_run(memory, keys_in, keys_out, run.start, run.end, next, digit_at(shift, bits, 2), codec, flags);
#endif
    }
}
#endif
