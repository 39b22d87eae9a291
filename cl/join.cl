/* Pairs of positions of equal keys in two arrays, from searches for the keys of one in the sorted other.
 *
 *   join_counts  number of pairs of each key
 *   join_places  second position of each pair
 */
#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/primitives/join.ts"
#endif
#define NO_PARTNER 0xffffffffU

/* @pre  the sorted keys from first[i] to before counts[i] equal key i
 * @post counts[i] = their number, at least `least` and at most `most`; with `inverted`, 1 instead of 0 and 0 instead of
 *       1. first[i] = NO_PARTNER if there is none */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void join_counts(__global uint *first, __global uint *counts, ulong n, uint least, uint most, uint inverted)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    const uint count = counts[i] - first[i];
    counts[i] = clamp(count, least, most) ^ inverted;
    if (count == 0)
        first[i] = NO_PARTNER;
}

/* @pre  pair p is of key left[p], whose pairs begin at begins[left[p]]; order[j] = the position of sorted key j, if
 *       `ordered`, otherwise j
 * @post right[p] = the position of the pair's other key, or NO_PARTNER */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void join_places(__global const uint *left, __global const uint *begins, __global const uint *first,
                 __global const uint *order, __global uint *right, ulong n, uint ordered)
{
    const ulong p = get_global_id(0);
    if (p >= n)
        return;
    const uint i = left[p];
    const uint place = first[i] + ((uint)p - begins[i]);
    right[p] = first[i] == NO_PARTNER ? NO_PARTNER : ordered ? order[place] : place;
}
