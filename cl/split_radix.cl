/* Split radix sort: a stable split of the keys by one digit of few bits per pass, each pass a scan.
 *
 *   split_count   rank of each key among the equal digits of its tile  -> offsets, counts
 *   split_scan    exclusive scan of the counts, digit by digit         -> counts, histogram, prefix
 *   split_offset  rank of each key among all equal digits              -> offsets
 *   split_move    moves each key to prefix[digit] + offset             -> keys, offsets (now output positions)
 *
 * With digits of one bit this is the split of the textbooks: with s ones before it, a zero at i goes to i - s and a
 * one goes to (number of zeros) + s.
 *
 *   RADIX_BITS  bits of a digit, 1 to 4
 */
#include "comparison.clh"
#include "work_group_total.clh"

#ifndef RADIX_BITS
# error "RADIX_BITS: bits of a digit, set by src/algorithms/split-radix.ts"
#endif
#if RADIX_BITS < 1 || RADIX_BITS > 4
# error "RADIX_BITS must be 1 to 4"
#endif
#define BINS (1u << RADIX_BITS)

/* One tile of GROUP_SIZE keys per group.
 * @post counts[bin * tiles + tile] = keys of the tile with that digit */
GROUP_KERNEL void split_count(__global const key_t *keys, __global uint *offsets, __global uint *counts, ulong n,
                              codec_t codec, uint flags, uint shift, uint bits)
{
    __local uint sums[GROUP_SIZE];
    const size_t i = get_global_id(0);
    const uint item = (uint)get_local_id(0);
    const size_t tile = get_group_id(0), tiles = get_num_groups(0);
    const uint digit = i < n ? code_digit(code_of(keys[i], codec, flags), shift, bits) : BINS;
    uint rank = 0, before_others = 0, others = 0;

    for (uint bin = 1; bin < BINS; bin++) {
        uint total;
        const uint before = work_group_scan_total(digit == bin, sums, &total);
        if (digit == bin)
            rank = before;
        before_others += before;
        others += total;
        if (item == 0)
            counts[bin * tiles + tile] = total;
    }
    /* A key that is in no other bin is a zero: i - s. */
    if (digit == 0)
        rank = item - before_others;
    if (item == 0) {
        const ulong left = n - tile * GROUP_SIZE;
        counts[tile] = (left < GROUP_SIZE ? (uint)left : GROUP_SIZE) - others;
    }
    if (i < n)
        offsets[i] = rank;
}

/* One group scans all counts, COUNTS_PER_ITEM of them per work-item at a time, with a carry.
 * @post histogram[bin] = keys with that digit, prefix[bin] = keys with a smaller one, counts[bin * tiles + tile] =
 *       keys with a smaller digit, or the same in an earlier tile */
#define COUNTS_PER_ITEM 8

GROUP_KERNEL void split_scan(__global uint *counts, __global uint *histogram, __global uint *prefix, uint tiles, uint n)
{
    __local uint sums[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong all = (ulong)BINS * tiles;
    uint carry = 0;

    for (ulong first = 0; first < all; first += GROUP_SIZE * COUNTS_PER_ITEM) {
        const ulong own = first + item * COUNTS_PER_ITEM;
        uint values[COUNTS_PER_ITEM], sum = 0, total;
        for (uint k = 0; k < COUNTS_PER_ITEM; k++) {
            values[k] = own + k < all ? counts[own + k] : 0;
            sum += values[k];
        }
        uint before = carry + work_group_scan_total(sum, sums, &total);
        for (uint k = 0; k < COUNTS_PER_ITEM; k++) {
            if (own + k < all)
                counts[own + k] = before;
            before += values[k];
        }
        carry += total;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint bin = item; bin < BINS; bin += GROUP_SIZE) {
        const uint smaller = counts[(ulong)bin * tiles];
        prefix[bin] = smaller;
        histogram[bin] = (bin + 1 < BINS ? counts[(ulong)(bin + 1) * tiles] : n) - smaller;
    }
}

/* @post offsets[i] = keys before i with the same digit */
GROUP_KERNEL void split_offset(__global const key_t *keys, __global uint *offsets, __global const uint *counts,
                               __global const uint *prefix, ulong n, codec_t codec, uint flags, uint shift, uint bits)
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    const uint digit = code_digit(code_of(keys[i], codec, flags), shift, bits);
    offsets[i] += counts[digit * get_num_groups(0) + get_group_id(0)] - prefix[digit];
}

/* @post offsets[i] = position of key i: zeros at i - s, ones after all zeros */
GROUP_KERNEL void split_move(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                             __global const value_t *values, __global value_t *values_out,
#endif
                             __global uint *offsets, __global const uint *prefix, ulong n, codec_t codec, uint flags,
                             uint shift, uint bits)
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    const code_t code = code_of(keys[i], codec, flags);
    const uint place = prefix[code_digit(code, shift, bits)] + offsets[i];
    offsets[i] = place;
    store_code(keys_out, place, code, codec, flags);
#if HAS_VALUES
    values_out[place] = load_value(values, i, flags);
#endif
}
