/* The k first keys of the sorted order, in that order, for small k: a radix select that keeps the candidates.
 *
 * An item is a key and its position, and is ordered by the code of the key, then by the position; no two items are
 * equal. Pass after pass determines one digit of the k-th item, from the top. A pass reads the items that are not above
 * the digits so far: first the keys themselves, and a list of items as soon as few are left. The k items of the last
 * list are ranked by comparison with each other.
 *
 * Every group of a pass finds the digit of the pass before: that costs less than a launch in between.
 *
 *   few_pass  finds a digit, lists the items that are left, and counts their next digits
 *   few_rank  the k items in order
 *
 * Source: the selection by radix is Alabi et al., Fast k-selection algorithms for graphics processing units (2012);
 * lists of candidates in the passes are from Zhang et al., Parallel top-k algorithms on GPU (SC 2023).
 */
#define BINS_SPACE __global
#include "find_bin.clh"
#include "key_codec.clh"

#ifndef SELECT_BITS
# error "SELECT_BITS: most bits of a digit, set by src/sort/backend/device-column-kernels.ts"
#endif
#define SELECT_BINS (1u << SELECT_BITS)
/* Counts of a pass: one for each digit, and the number of items in the list that the pass writes. */
#define COUNT_WORDS (SELECT_BINS + 1)
/* Keys that a work-item reads at once. */
#define AT_ONCE 8
/* Work-items that compare one of the k items with the others. */
#define RANKERS (GROUP_SIZE < 16 ? GROUP_SIZE : 16)
#define GROUP_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))

/* What a pass knows, one record a pass. */
typedef struct {
    ulong code;         /* of the k-th item: the digits so far */
    ulong position;
    ulong rank;         /* of the k-th item among those that agree with these digits, from 0 */
    ulong items;        /* that are not above these digits */
    ulong source;       /* what the pass reads: 0 the keys, 1 or 2 a list */
    ulong source_items;
    ulong closed;       /* 1: exactly k items are not above these digits */
    ulong lists;        /* 1: the pass writes its items to the other list */
} state_t;

/* Bits of an item from `at` up; the position has the bits below 32, the code those from 32 on. */
INLINE code_t code_above(uint at)
{
    return at >= 32 + KEY_BITS ? 0 : at <= 32 ? CODE_MAX : CODE_MAX << (at - 32) & CODE_MAX;
}

INLINE uint position_above(uint at)
{
    return at >= 32 ? 0 : 0xffffffffu << at;
}

INLINE ulong other_list(ulong source)
{
    return source == 1 ? 2 : 1;
}

/* @pre  counts of all passes are zero before the first; k < n; capacity >= k
 * @param before  the lowest bit of the digit that the pass before counted; 32 + KEY_BITS for the first pass
 * @param at, bits  the digit to count; bits is 0 in the last pass
 * @post states[pass]; counts of the pass; the list, if it has room */
GROUP_KERNEL void few_pass(__global const key_t *keys, __global state_t *states, __global uint *counts,
                           __global key_t *list_keys, __global uint *list_positions, ulong n, ulong k, ulong capacity,
                           uint pass, uint before, uint at, uint bits, codec_t codec)
{
    __local uint bins[SELECT_BINS];
    __local uint scratch[WORK_GROUP_SCAN_WORDS];
    __local uint found_bin[3];
    const uint item = (uint)get_local_id(0);
    __global uint *const own_counts = counts + pass * COUNT_WORDS;
    state_t state;

    for (uint bin = item; bin < SELECT_BINS; bin += GROUP_SIZE)
        bins[bin] = 0;
    if (pass == 0) {
        state.code = state.position = state.source = state.closed = state.lists = 0;
        state.rank = k - 1;
        state.items = state.source_items = n;
    } else {
        __global const uint *const known = own_counts - COUNT_WORDS;
        state = states[pass - 1];
        if (state.lists) {
            state.source = other_list(state.source);
            state.source_items = state.items;
        }
        if (!state.closed) {
            find_bin(known, SELECT_BINS, (uint)state.rank, scratch, found_bin);
            if (before >= 32)
                state.code |= (ulong)found_bin[0] << (before - 32);
            else
                state.position |= (ulong)found_bin[0] << before;
            state.rank -= found_bin[1];
            state.items = k - 1 - state.rank + found_bin[2];
            state.closed = state.items == k; /* the list of these items is the last one */
        }
        state.lists = state.items <= capacity && state.items < state.source_items;
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* all bins are zero */
    /* Not before the barrier: the compiler of PoCL 6 (LLVM 18) then ends the process. */
    if (get_group_id(0) == 0 && item == 0)
        states[pass] = state;
    if (state.closed && !state.lists)
        return;

    const code_t code_mask = code_above(before), code = (code_t)state.code;
    const uint position_mask = position_above(before), position = (uint)state.position;
    const ulong from = state.source == 2 ? capacity : 0, to = state.source == 1 ? capacity : 0;
    __global const key_t *const source = state.source ? list_keys + from : keys;
    __global const uint *const places = list_positions + from;
    const uint tile_items = GROUP_SIZE * AT_ONCE;

    for (ulong tile = get_group_id(0) * (ulong)tile_items; tile < state.source_items;
         tile += get_num_groups(0) * (ulong)tile_items) {
        __global const key_t *const tile_keys = source + tile;
        const uint size = (uint)min(state.source_items - tile, (ulong)tile_items);
        key_t own[AT_ONCE];
        uint found = 0, inside = 0;
        for (uint j = 0; j < AT_ONCE; j++)
            own[j] = j * GROUP_SIZE + item < size ? tile_keys[j * GROUP_SIZE + item] : (key_t)0;
        if (pass == 0) { /* no digit is known */
            for (uint j = 0; j < AT_ONCE; j++)
                if (j * GROUP_SIZE + item < size)
                    atomic_inc(&bins[code_digit(encode_key(own[j], codec), at - 32, bits)]);
            continue;
        }
        for (uint j = 0; j < AT_ONCE; j++) {
            const uint i = j * GROUP_SIZE + item;
            const code_t whole = encode_key(own[j], codec), masked = whole & code_mask;
            if (masked > code || i >= size)
                continue;
            const uint place = state.source ? places[tile + i] : (uint)tile + i;
            if (masked == code && (place & position_mask) > position)
                continue;
            found++;
            inside |= 1u << j;
            if (bits && masked == code && (place & position_mask) == position)
                atomic_inc(&bins[at >= 32 ? code_digit(whole, at - 32, bits) : place >> at & ((1u << bits) - 1)]);
        }
        if (state.lists && found) {
            ulong next = atomic_add(&own_counts[SELECT_BINS], found);
            for (uint j = 0; j < AT_ONCE; j++)
                if ((inside >> j & 1) && next < capacity) {
                    const ulong i = tile + j * GROUP_SIZE + item;
                    list_keys[to + next] = own[j];
                    list_positions[to + next++] = state.source ? places[i] : (uint)i;
                }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bits && bin < SELECT_BINS; bin += GROUP_SIZE)
        if (bins[bin] != 0)
            atomic_add(&own_counts[bin], bins[bin]);
}

/* @pre  at least RANKERS work-items for each of the k items
 * @post the k first keys in order, and their positions */
GROUP_KERNEL void few_rank(__global const state_t *states, uint last_pass, __global const key_t *list_keys,
                           __global const uint *list_positions, __global key_t *first_keys, __global uint *first_positions,
                           uint k, ulong capacity, codec_t codec)
{
    __local uint ranks[GROUP_SIZE / RANKERS];
    const uint own = (uint)get_local_id(0) / RANKERS, ranker = (uint)get_local_id(0) % RANKERS;
    const uint i = (uint)get_global_id(0) / RANKERS;
    const state_t state = states[last_pass];
    const ulong list = state.lists ? other_list(state.source) : state.source;
    const ulong from = list == 2 ? capacity : 0;
    const key_t key = i < k ? list_keys[from + i] : (key_t)0;
    const uint position = i < k ? list_positions[from + i] : 0;
    const code_t code = encode_key(key, codec);
    uint before = 0;

    if (ranker == 0)
        ranks[own] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint other = ranker; i < k && other < k; other += RANKERS) {
        const code_t theirs = encode_key(list_keys[from + other], codec);
        before += theirs < code || (theirs == code && list_positions[from + other] < position);
    }
    atomic_add(&ranks[own], before);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ranker == 0 && i < k) {
        first_keys[ranks[own]] = key;
        first_positions[ranks[own]] = position;
    }
}
