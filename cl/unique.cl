/* Number of occurrences of each distinct key of a sorted array. compact.cl finds where they begin. */
#include "common.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/sort/backend/device-column-kernels.ts"
#endif
#define GROUP_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))

/* @post counts[i] = the difference of neighbouring places */
GROUP_KERNEL void unique_counts(__global const uint *places, __global uint *counts, ulong distinct, ulong n)
{
    const ulong i = get_global_id(0);
    if (i < distinct)
        counts[i] = (uint)((i + 1 < distinct ? places[i + 1] : n) - places[i]);
}
