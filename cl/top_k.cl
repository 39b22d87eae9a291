/* The k first keys of the sorted order, without sorting: a radix select.
 *
 * Digit by digit from the top, counts the digits of the keys that match the threshold so far, and takes the digit
 * of the k-th key. Selects all keys below the threshold, and the first of the keys equal to it until k are
 * selected. The selected keys keep their input order, so a stable sort of them equals the start of a stable sort of
 * all keys.
 *
 *   select_count    digits of the keys that can still be the threshold
 *   select_digit    one group: the next digit of the threshold
 *   select_sums     keys below and equal to the threshold in the part of each group
 *   select_offsets  one group: an exclusive scan of these sums
 *   select_write    the selected keys and their positions
 */
#include "find_bin.clh"
#include "key_codec.clh"

#ifndef SELECT_BITS
# error "SELECT_BITS: bits of a digit, set by src/sort/backend/device-column-kernels.ts"
#endif
#define SELECT_BINS (1u << SELECT_BITS)
#define GROUP_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))

/* The threshold so far, and the rank of the wanted key among those that match it (counted from 0). */
#define STATE_CODE 0
#define STATE_RANK 1

/* @pre  counts are zero
 * @post counts[d] = keys with digit d at `shift` whose code matches the threshold above it */
GROUP_KERNEL void select_count(__global const key_t *keys, __global const ulong *state, __global uint *counts, ulong n,
                               uint shift, uint bits, codec_t codec)
{
    __local uint bins[SELECT_BINS];
    const uint item = (uint)get_local_id(0);
    const code_t above = shift + bits < KEY_BITS ? CODE_MAX << (shift + bits) & CODE_MAX : 0;
    const code_t wanted = (code_t)state[STATE_CODE];

    for (uint bin = item; bin < SELECT_BINS; bin += GROUP_SIZE)
        bins[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const code_t code = encode_key(keys[i], codec);
        if (((code ^ wanted) & above) == 0)
            atomic_inc(&bins[code_digit(code, shift, bits)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < SELECT_BINS; bin += GROUP_SIZE)
        if (bins[bin] != 0)
            atomic_add(&counts[bin], bins[bin]);
}

/* One group.
 * @post the threshold has its digit at `shift`, the rank counts keys of that digit only; counts are zero */
GROUP_KERNEL void select_digit(__global ulong *state, __global uint *counts, uint shift)
{
    __local uint bins[SELECT_BINS], scratch[WORK_GROUP_SCAN_WORDS], found_bin[3];
    for (uint bin = (uint)get_local_id(0); bin < SELECT_BINS; bin += GROUP_SIZE) {
        bins[bin] = counts[bin];
        counts[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    find_bin(bins, SELECT_BINS, (uint)state[STATE_RANK], scratch, found_bin); /* of fewer than 2^32 keys */
    if (get_local_id(0) == 0) {
        state[STATE_CODE] |= (ulong)found_bin[0] << shift;
        state[STATE_RANK] -= found_bin[1];
    }
}

/* @post sums[group] = keys below the threshold in the group's part, sums[groups + group] = those equal to it */
GROUP_KERNEL void select_sums(__global const key_t *keys, __global const ulong *state, __global uint *sums, ulong n,
                              ulong per_group, codec_t codec)
{
    __local uint below, equal;
    const ulong first = get_group_id(0) * per_group, last = min(first + per_group, n);
    const code_t threshold = (code_t)state[STATE_CODE];
    uint own_below = 0, own_equal = 0;

    if (get_local_id(0) == 0)
        below = equal = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = first + get_local_id(0); i < last; i += GROUP_SIZE) {
        const code_t code = encode_key(keys[i], codec);
        own_below += code < threshold;
        own_equal += code == threshold;
    }
    atomic_add(&below, own_below);
    atomic_add(&equal, own_equal);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        sums[get_group_id(0)] = below;
        sums[get_num_groups(0) + get_group_id(0)] = equal;
    }
}

/* One group. Scans all sums of select_sums in place, exclusively: its own kernel, because the program of a scan of any
 * length takes longer to compile than this one. */
GROUP_KERNEL void select_offsets(__global uint *sums, uint count)
{
    __local uint scratch[WORK_GROUP_SCAN_WORDS];
    const uint share = (count + GROUP_SIZE - 1) / GROUP_SIZE;
    const uint first = min((uint)get_local_id(0) * share, count), last = min(first + share, count);
    uint sum = 0;
    for (uint i = first; i < last; i++)
        sum += sums[i];
    uint before = work_group_scan(sum, GROUP_SIZE, scratch);
    for (uint i = first; i < last; i++) {
        const uint own = sums[i];
        sums[i] = before;
        before += own;
    }
}

/* @pre  sums from select_offsets; per_group is a multiple of GROUP_SIZE
 * @post the k selected keys and their positions, in input order */
GROUP_KERNEL void select_write(__global const key_t *keys, __global const ulong *state, __global const uint *sums,
                               __global key_t *selected, __global uint *positions, ulong n, ulong per_group, codec_t codec)
{
    __local uint scratch[WORK_GROUP_SCAN_WORDS];
    __local uint total;
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const ulong first = group * per_group, last = min(first + per_group, n);
    const code_t threshold = (code_t)state[STATE_CODE];
    const uint missing = (uint)state[STATE_RANK] + 1; /* of the keys equal to the threshold */
    uint below = sums[group], equal = sums[groups + group] - sums[groups];

    for (ulong tile = first; tile < last; tile += GROUP_SIZE) {
        const ulong i = tile + item;
        const key_t key = i < last ? keys[i] : (key_t)0;
        const code_t code = encode_key(key, codec);
        /* Two counts in one word: a group has fewer than 2^16 work-items. */
        const uint mine = i < last ? (code < threshold) | (uint)(code == threshold) << 16 : 0;
        const uint before = work_group_scan(mine, GROUP_SIZE, scratch);
        const uint equal_before = equal + (before >> 16);
        if ((mine & 1) || (mine && equal_before < missing)) {
            const uint to = below + (before & 0xffff) + min(equal_before, missing);
            selected[to] = key;
            positions[to] = (uint)i;
        }
        if (item == GROUP_SIZE - 1)
            total = before + mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        below += total & 0xffff;
        equal += total >> 16;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
