/* Segments of an array: [offsets[s], offsets[s + 1]) is segment s.
 */
#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/sort/backend/device-column-kernels.ts"
#endif

/* The segment of element i. */
uint segment_at(__global const uint *offsets, ulong i, uint segments)
{
    uint low = 0, high = segments; /* offsets[low] <= i < offsets[high] */
    while (high - low > 1) {
        const uint middle = low + (high - low) / 2;
        if (offsets[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* @pre  offsets[0] = 0, non-decreasing, offsets[segments] = n
 * @post ids[i] = the segment of element i */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void segment_ids(__global const uint *offsets, __global uint *ids, ulong n, uint segments)
{
    const ulong i = get_global_id(0);
    if (i < n)
        ids[i] = segment_at(offsets, i, segments);
}

/* @pre  as segment_ids; positions are a permutation
 * @post ids[positions[i]] = the segment of element i */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void segment_ids_at(__global const uint *offsets, __global uint *ids, __global const uint *positions, ulong n, uint segments)
{
    const ulong i = get_global_id(0);
    if (i < n && positions[i] < n)
        ids[positions[i]] = segment_at(offsets, i, segments);
}

/* @pre  ids[i] = the segment of the element at positions[i]
 * @post positions count from the start of their segments */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void subtract_begins(__global uint *positions, __global const uint *ids, __global const uint *offsets, ulong n)
{
    const ulong i = get_global_id(0);
    if (i < n)
        positions[i] -= offsets[ids[i]];
}
