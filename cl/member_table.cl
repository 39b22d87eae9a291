/* Membership of integers by a table with a byte for each integer from the least of a set to its greatest.
 *
 *   mark_members  marks the set in a cleared table
 *   find_members  looks up keys
 *
 * Offsets from the least integer wrap, so that one program serves signed and unsigned keys. */
#include "common.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/primitives/member-table.ts"
#endif

/* @param range  greatest offset of the table
 * @post  table[others[i] - least] = 1 */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void mark_members(__global const key_t *others, __global uchar *table, ulong n, ulong least, ulong range)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    const key_t offset = (key_t)(others[i] - (key_t)least);
    /* Beyond the table are only keys that changed after their range was read. A store to a marked byte would take its
     * cache line from other cores. All stores are of the same value, in any order. */
    if (offset <= range && table[offset] == 0)
        table[offset] = 1;
}

/* @post mask[i] = whether the table has keys[i] - least; with `inverted`, whether it does not */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void find_members(__global const uchar *table, __global const key_t *keys, __global uchar *mask, ulong n, ulong least,
                  ulong range, uint inverted)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    const key_t offset = (key_t)(keys[i] - (key_t)least);
    const uint found = offset <= range ? table[offset] : 0;
    mask[i] = (uchar)(found ^ inverted);
}
