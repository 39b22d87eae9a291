/* Radix sort with three kernels per digit: count, scan, scatter. Every group owns one contiguous piece of the
 * array, a whole number of tiles, in both the first and the last kernel. No group waits for another.
 *
 *   tiled_upsweep    counts the digits of each group's piece
 *   tiled_spine      scans the counts of one bin over all groups
 *   tiled_downsweep  ranks tile after tile and scatters
 *
 *   GROUP_SIZE, KEYS_PER_ITEM, RADIX_BITS, RANK  see digit_rank.clh
 *   OFFSET_BITS    32: fewer than 2^31 keys; 64: any number
 *   COUNT_COLUMNS  copies of the counters in an upsweep group, a power of two: neighbouring work-items use
 *                  different ones
 */
#include "run_move.clh"

#ifndef COUNT_COLUMNS
# error "COUNT_COLUMNS: copies of the counters in an upsweep group, set by src/algorithms/tiled-radix.ts"
#endif
#define DIGITS 1
#define DIGIT_COLUMNS COUNT_COLUMNS
#define FINDS_ORDER 0
#include "digit_count.clh"

/* @param counts  of the pieces, [bin][group] */
TILE_KERNEL void tiled_upsweep(__global const key_t *restrict keys, __global offset_t *restrict counts, ulong n,
                               uint tiles_per_group, uint shift, uint bits, codec_t codec, uint flags)
{
    __local uint bins[DIGIT_COUNTERS];
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const digit_t digits[DIGITS] = {counted_digit(shift, bits)};
    for (uint i = item; i < DIGIT_COUNTERS; i += GROUP_SIZE)
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    const ulong piece = (ulong)tiles_per_group * TILE;
    const ulong start = min(group * piece, n), end = min(start + piece, n);
    count_key_range(bins, digits, keys + start, end - start, item, GROUP_SIZE, codec, flags & FLAG_ENCODE);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint bin = item; bin < BINS; bin += GROUP_SIZE)
        counts[(size_t)bin * groups + group] = sum_columns(bins, bin);
}

/* Group b scans row b of the counts, exclusively, in place.
 * @param totals  receives the sum of each row */
TILE_KERNEL void tiled_spine(__global offset_t *restrict counts, __global offset_t *restrict totals, uint groups)
{
    __local offset_t scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    __global offset_t *row = counts + (size_t)get_group_id(0) * groups;
    offset_t carry = 0;
    for (uint first = 0; first < groups; first += GROUP_SIZE) {
        const offset_t count = first + item < groups ? row[first + item] : 0;
        const offset_t before = work_group_scan_offsets(count, GROUP_SIZE, scratch);
        if (first + item < groups)
            row[first + item] = carry + before;
        carry += scratch[GROUP_SIZE - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        totals[get_group_id(0)] = carry;
}

/* @param counts  of the pieces before each group's, [bin][group]
 * @param totals  of each bin */
TILE_KERNEL void tiled_downsweep(__global const key_t *restrict keys_in, __global key_t *restrict keys_out,
#if HAS_VALUES
                                 __global const value_t *restrict values_in, __global value_t *restrict values_out,
#endif
                                 __global const offset_t *restrict counts, __global const offset_t *restrict totals, ulong n,
                                 uint tiles_per_group, uint shift, uint bits, codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const digit_t digit = digit_at(shift, bits, 2);

    if (item == 0)
        memory[ZERO_AT / 4] = 0;

    /* Output position of the group's next key of each bin. */
    offset_t next[BINS_PER_ITEM], sum = 0;
#pragma unroll
    for (uint j = 0; j < BINS_PER_ITEM; j++) {
        next[j] = sum;
        sum += item < BIN_ITEMS ? totals[item * BINS_PER_ITEM + j] : 0;
    }
    sum = work_group_scan_offsets(sum, BIN_ITEMS, (__local offset_t *)(memory + ORIGINS_AT / 4));
#pragma unroll
    for (uint j = 0; j < BINS_PER_ITEM; j++)
        next[j] += sum + (item < BIN_ITEMS ? counts[(size_t)(item * BINS_PER_ITEM + j) * groups + group] : 0);

    const ulong piece = (ulong)tiles_per_group * TILE;
    const ulong start = group * piece, end = min(start + piece, n);
#if HAS_VALUES
    move_run(memory, keys_in, keys_out, values_in, values_out, start, start, end, next, digit, codec, flags);
#else
    move_run(memory, keys_in, keys_out, start, end, next, digit, codec, flags);
#endif
}
