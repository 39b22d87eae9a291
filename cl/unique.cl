/* The distinct keys of a sorted array: where each begins, and how often it is there.
 *
 *   unique_heads   1 for each key that differs from the one before it
 *   (a scan of these numbers the distinct keys)
 *   unique_place   the position and the place of the first key of each number
 *   unique_counts  the difference of neighbouring places
 */
#include "common.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/sort/operations/device-column-steps.ts"
#endif
#define GROUP_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))

INLINE uint is_head(__global const key_t *keys, ulong i)
{
    return i == 0 || keys[i] != keys[i - 1];
}

GROUP_KERNEL void unique_heads(__global const key_t *keys, __global uint *heads, ulong n)
{
    const ulong i = get_global_id(0);
    if (i < n)
        heads[i] = is_head(keys, i);
}

/* @pre  numbers = the exclusive scan of unique_heads
 * @post for each distinct key, in order: firsts = position of its first key, places = where it begins;
 *       distinct[0] = how many there are */
GROUP_KERNEL void unique_place(__global const key_t *keys, __global const uint *positions,
                               __global const uint *numbers, __global uint *firsts, __global uint *places,
                               __global uint *distinct, ulong n)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    const uint head = is_head(keys, i);
    if (head) {
        firsts[numbers[i]] = positions[i];
        places[numbers[i]] = (uint)i;
    }
    if (i == n - 1)
        distinct[0] = numbers[i] + head;
}

GROUP_KERNEL void unique_counts(__global const uint *places, __global uint *counts, ulong distinct, ulong n)
{
    const ulong i = get_global_id(0);
    if (i < distinct)
        counts[i] = (uint)((i + 1 < distinct ? places[i + 1] : n) - places[i]);
}
