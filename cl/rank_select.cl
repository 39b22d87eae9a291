/* The keys at several ranks of the sorted order, without sorting: a radix select for each rank that lists the candidates.
 *
 * Pass after pass determines one digit of the code at a rank, from the top. A pass reads the keys that agree with the digits
 * so far: first all keys, and a list of keys as soon as few are left. Every group of a pass finds the digit of the pass
 * before: that costs less than a launch in between. The second dimension of a launch is the rank.
 *
 * Source: the selection by radix is Alabi et al., Fast k-selection algorithms for graphics processing units (2012);
 * lists of candidates in the passes are from Zhang et al., Parallel top-k algorithms on GPU (SC 2023).
 */
#include "key_codec.clh"
#define BINS_SPACE __global
#include "find_bin.clh"

#ifndef SELECT_BITS
# error "SELECT_BITS: most bits of a digit, set by src/primitives/rank-select.ts"
#endif
#define SELECT_BINS (1u << SELECT_BITS)
/* Counts of a pass: one for each digit, and the number of keys in the list that the pass writes. */
#define COUNT_WORDS (SELECT_BINS + 1)
/* Keys that a work-item reads at once. */
#define AT_ONCE 8

/* What a pass knows of a rank, one record for each. */
typedef struct {
    ulong code;         /* the digits so far */
    ulong rank;         /* among the keys that agree with these digits, from 0 */
    ulong source;       /* what the pass reads: 0 all keys, 1 or 2 a list */
    ulong source_keys;
} state_t;

/* @pre  states of the first pass: code and source are 0, source_keys is n; counts of all passes are zero
 * @param pass    number of the pass, from 0
 * @param before  the lowest bit of the digit that the pass before counted; KEY_BITS for the first pass
 * @param at, bits  the digit to count; bits is 0 in the last pass, which only finds a digit
 * @post states and counts of the pass; a list, if the keys that agree have room in it */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void rank_pass(__global const key_t *keys, __global state_t *states, __global uint *counts, __global key_t *lists,
               ulong capacity, uint pass, uint before, uint at, uint bits, codec_t codec)
{
    __local uint bins[SELECT_BINS];
    __local uint scratch[WORK_GROUP_SCAN_WORDS];
    __local uint found_bin[3];
    const uint item = (uint)get_local_id(0), ranks = (uint)get_num_groups(1), which = (uint)get_group_id(1);
    __global uint *const own_counts = counts + (pass * ranks + which) * COUNT_WORDS;
    state_t state = states[(pass ? pass - 1 : 0) * ranks + which];
    ulong left = state.source_keys;
    bool writes = false;

    for (uint bin = item; bin < SELECT_BINS; bin += GROUP_SIZE)
        bins[bin] = 0;
    if (pass > 0) {
        __global const uint *const known = own_counts - ranks * COUNT_WORDS;
        if (known[SELECT_BINS]) {
            state.source = state.source == 1 ? 2 : 1;
            state.source_keys = known[SELECT_BINS];
        }
        find_bin(known, SELECT_BINS, (uint)state.rank, scratch, found_bin);
        state.code |= (ulong)found_bin[0] << before;
        state.rank -= found_bin[1];
        left = found_bin[2];
        writes = left <= capacity && left < state.source_keys;
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* all bins are zero */
    /* Not before the barrier: the compiler of PoCL 6 (LLVM 18) then ends the process. */
    if (pass > 0 && get_group_id(0) == 0 && item == 0)
        states[pass * ranks + which] = state;
    if (bits == 0)
        return;

    const code_t mask = before < KEY_BITS ? CODE_MAX << before & CODE_MAX : 0, code = (code_t)state.code;
    __global key_t *const own_lists = lists + which * 2 * capacity;
    __global const key_t *const source = state.source ? own_lists + (state.source - 1) * capacity : keys;
    __global key_t *const list = own_lists + (state.source == 1 ? capacity : 0);
    const uint tile_keys = GROUP_SIZE * AT_ONCE;

    for (ulong tile = get_group_id(0) * (ulong)tile_keys; tile < state.source_keys;
         tile += get_num_groups(0) * (ulong)tile_keys) {
        const uint size = (uint)min(state.source_keys - tile, (ulong)tile_keys);
        key_t own[AT_ONCE];
        uint found = 0, inside = 0;
        for (uint j = 0; j < AT_ONCE; j++)
            own[j] = j * GROUP_SIZE + item < size ? source[tile + j * GROUP_SIZE + item] : (key_t)0;
        for (uint j = 0; j < AT_ONCE; j++) {
            const code_t whole = encode_key(own[j], codec);
            if (j * GROUP_SIZE + item >= size || (whole & mask) != code)
                continue;
            found++;
            inside |= 1u << j;
            atomic_inc(&bins[code_digit(whole, at, bits)]);
        }
        if (writes && found) {
            ulong next = atomic_add(&own_counts[SELECT_BINS], found);
            for (uint j = 0; j < AT_ONCE; j++)
                if ((inside >> j & 1) && next < capacity)
                    list[next++] = own[j];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < SELECT_BINS; bin += GROUP_SIZE)
        if (bins[bin] != 0)
            atomic_add(&own_counts[bin], bins[bin]);
}
