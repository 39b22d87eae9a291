/* Merge sort in three regimes, by the length of the runs to be merged:
 *
 *   merge_pairs   short: one work-item merges a pair of runs, key by key
 *   merge_local   middle: a group merges the pairs of its tile in local memory; the output position of a key is its
 *                 index in its own run plus its rank in the other one, by binary search
 *   merge_split   long: where each tile of the output begins in the left run of its pair (merge path)
 *   merge_tiles   ... and one group merges each tile, again by ranks
 *
 * Equal keys: a key of the left run counts the strictly smaller keys of the right run (lower bound), a key of the
 * right run also the equal ones of the left run (upper bound). So all positions are distinct, and the sort is
 * stable.
 *
 *   TILE  keys of a tile, a power of two
 */
#include "comparison.clh"

#ifndef TILE
# error "TILE: keys that a group merges, a power of two, set by src/algorithms/merge.ts"
#endif

/* @return how many of the `count` sorted codes come before `code`: the smaller ones and, with `equal`, those that
 *         are equal to it */
INLINE uint rank_in(__local const key_t *run, uint count, code_t code, code_t window, uint equal)
{
    uint low = 0, high = count;
    while (low < high) {
        const uint middle = (low + high) >> 1;
        const code_t other = run[middle] & window;
        if (other < code || (equal && other == code))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merges runs of `width` keys, one pair per work-item. */
GROUP_KERNEL void merge_pairs(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                              __global const value_t *values, __global value_t *values_out,
#endif
                              ulong n, ulong window, uint width, codec_t codec, uint flags)
{
    const ulong base = get_global_id(0) * 2 * width;
    if (base >= n)
        return;
    const ulong middle = min(base + width, n), end = min(base + 2 * width, n);
    ulong a = base, b = middle;
    for (ulong to = base; to < end; to++) {
        bool left = a < middle;
        if (left && b < end)
            left = (code_of(keys[a], codec, flags) & (code_t)window) <= (code_of(keys[b], codec, flags) & (code_t)window);
        /* Not `left ? a++ : b++`: it crashes Intel's compiler of 2022 (IGC 1.0.12504). */
        const ulong from = left ? a : b;
        a += left;
        b += !left;
        store_code(keys_out, to, code_of(keys[from], codec, flags), codec, flags);
#if HAS_VALUES
        values_out[to] = load_value(values, from, flags);
#endif
    }
}

/* Merges runs of `width` keys, 2 * width <= TILE, all pairs of a tile per group. */
GROUP_KERNEL void merge_local(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                              __global const value_t *values, __global value_t *values_out,
#endif
                              ulong n, ulong window, uint width, codec_t codec, uint flags)
{
    __local key_t tile[TILE];
    const uint item = (uint)get_local_id(0);
    const size_t first = (size_t)get_group_id(0) * TILE;
    const uint count = (uint)min((ulong)TILE, n - first);

    for (uint i = item; i < count; i += GROUP_SIZE)
        tile[i] = keys[first + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < count; i += GROUP_SIZE) {
        const uint base = i & ~(2 * width - 1), middle = min(base + width, count), end = min(base + 2 * width, count);
        const code_t code = tile[i];
        const uint left = i < middle;
        const uint rank = left ? rank_in(tile + middle, end - middle, code & (code_t)window, (code_t)window, 0)
                               : rank_in(tile + base, middle - base, code & (code_t)window, (code_t)window, 1);
        const size_t to = first + (left ? i : i - (middle - base)) + rank;
        store_code(keys_out, to, code, codec, flags);
#if HAS_VALUES
        values_out[to] = values[first + i];
#endif
    }
}

/* For each tile of the output, the number of its pair's earlier keys that come from the left run: the intersection
 * of the diagonal of the merge matrix with the merge path.
 * @post splits[tile] = keys of the left run before the tile */
GROUP_KERNEL void merge_split(__global const key_t *keys, __global ulong *splits, ulong n, ulong window, ulong width,
                              ulong tiles)
{
    const ulong tile = get_global_id(0);
    if (tile >= tiles)
        return;
    const ulong base = tile * TILE & ~(2 * width - 1);
    const ulong middle = min(base + width, n), end = min(base + 2 * width, n);
    const ulong diagonal = tile * TILE - base;
    ulong low = 0, high = min(diagonal, middle - base);
    while (low < high) {
        const ulong a = (low + high) >> 1, b = diagonal - 1 - a;
        /* If the right run is too short for b, the left one supplies more; a left key precedes an equal right one. */
        if (middle + b >= end || (keys[base + a] & (code_t)window) <= (keys[middle + b] & (code_t)window))
            low = a + 1;
        else
            high = a;
    }
    splits[tile] = low;
}

/* Merges runs of `width` keys, 2 * width > TILE, one tile of the output per group. */
GROUP_KERNEL void merge_tiles(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                              __global const value_t *values, __global value_t *values_out,
#endif
                              __global const ulong *splits, ulong n, ulong window, ulong width, codec_t codec, uint flags)
{
    __local key_t part[TILE];
    const uint item = (uint)get_local_id(0);
    const ulong tile = get_group_id(0), first = tile * TILE;
    const ulong base = first & ~(2 * width - 1);
    const ulong middle = min(base + width, n), end = min(base + 2 * width, n);
    const uint count = (uint)min((ulong)TILE, end - first);
    const ulong a = base + splits[tile], b = middle + (first - base - splits[tile]);
    const ulong a_end = first + count < end ? base + splits[tile + 1] : middle;
    const uint left = (uint)(a_end - a);

    for (uint i = item; i < count; i += GROUP_SIZE)
        part[i] = keys[i < left ? a + i : b + (i - left)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < count; i += GROUP_SIZE) {
        const code_t code = part[i];
        const uint rank = i < left ? rank_in(part + left, count - left, code & (code_t)window, (code_t)window, 0)
                                   : rank_in(part, left, code & (code_t)window, (code_t)window, 1);
        const size_t to = first + (i < left ? i : i - left) + rank;
        store_code(keys_out, to, code, codec, flags);
#if HAS_VALUES
        values_out[to] = values[i < left ? a + i : b + (i - left)];
#endif
    }
}
