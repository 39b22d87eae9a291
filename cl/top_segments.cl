/* The first keys of each segment, after a sort.
 *
 *   top_counts     number of first keys per segment
 *   (an exclusive scan of these gives their output positions)
 *   top_positions  their original positions */
#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/sort/backend/device-column-kernels.ts"
#endif
#define GROUP_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))

/* @param result_words  word `slot` is 0 before
 * @post  counts[segment] = at most k, and 0 after the last one, or if offsets decrease; result_words[slot] is not 0 unless
 *        offsets are non-decreasing from 0 to n */
GROUP_KERNEL void top_counts(__global const uint *offsets, __global uint *counts, ulong segments, uint k, ulong n,
                             __global uint *result_words, uint slot)
{
    const ulong i = get_global_id(0);
    if (i > segments)
        return;
    const uint begin = i < segments ? offsets[i] : 0, end = i < segments ? offsets[i + 1] : 0;
    counts[i] = end > begin ? min(k, end - begin) : 0;
    if (i < segments && (end < begin || (i == 0 && begin != 0) || (i == segments - 1 && end != n)))
        atomic_or(&result_words[slot], 1);
}

/* @param begins  start of each segment's first keys, then their total number
 * @post  positions[i] for each of them: its entry of `order`, in which each segment keeps its location */
GROUP_KERNEL void top_positions(__global const uint *order, __global const uint *offsets, __global const uint *begins,
                                __global uint *positions, ulong n, ulong length, uint segments)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    uint low = 0, high = segments; /* the last segment that begins at i or before */
    while (high - low > 1) {
        const uint middle = (low + high) >> 1;
        if (begins[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    const ulong from = (ulong)offsets[low] + (i - begins[low]);
    positions[i] = from < length ? order[from] : 0;
}
