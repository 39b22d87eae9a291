/* Scans for teaching only: Hillis and Steele's, and a single pass over the values. For clsort explain and clsort
 * bench ladder; the other steps are in scan.cl. */
#include "scan.cl"

/* Every value adds the one `distance` before it, with doubling distances: log n levels of n additions each. The
 * tree of scan_sweep takes twice the levels and a fraction of the additions. Two copies: a level reads one and
 * writes the other. */
SCAN_KERNEL(scan_hillis_steele)
{
    __local scan_t sums_of[2][GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong i = get_global_id(0);
    uint from = 0;
    sums_of[0][item] = i < n ? in[i] : (scan_t)0;
    TRACE_LOCAL(sums_of[0][word], GROUP_SIZE)
    for (uint distance = 1; distance < GROUP_SIZE; distance <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const scan_t before = item >= distance ? sums_of[from][item - distance] : (scan_t)0;
        sums_of[1 - from][item] = sums_of[from][item] + before;
        from = 1 - from;
        TRACE_LOCAL(sums_of[from][word], GROUP_SIZE)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        out[i] = inclusive ? sums_of[from][item] : item > 0 ? sums_of[from][item - 1] : (scan_t)0;
    if (item == GROUP_SIZE - 1)
        sums[get_group_id(0)] = sums_of[from][item];
}

#if SCAN_TYPE == 0
/* One pass: each group takes the next tile, scans it, waits for the sum of all earlier tiles and publishes its own.
 * Tiles are assigned in the order in which groups start, so that a group only waits for running groups. OpenCL does
 * not guarantee their progress: a group that has polled MAX_LOOKS times sums the missing values itself.
 *
 * @param state  word 0 the next tile, then per tile whether its sum is available
 * @param sums   sum of all values up to the end of each tile
 * @pre  state is 0; out is not in
 */
#ifndef MAX_LOOKS
# define MAX_LOOKS (1u << 14)
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void scan_single_pass(__global const uint *in, __global uint *out, volatile __global uint *sums,
                      volatile __global uint *state, ulong n, uint inclusive)
{
    __local uint totals[GROUP_SIZE];
    __local uint tile_taken, base;
    const uint item = (uint)get_local_id(0);
    if (item == 0)
        tile_taken = atomic_inc(&state[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint tile = tile_taken;
    const ulong values_of_tile = GROUP_SIZE * VALUES_PER_ITEM, first = tile * values_of_tile + item * VALUES_PER_ITEM;
    uint values[VALUES_PER_ITEM], sum = 0;
    for (uint k = 0; k < VALUES_PER_ITEM; k++) {
        values[k] = first + k < n ? in[first + k] : 0;
        sum += values[k];
    }
    totals[item] = sum;
    for (uint distance = 1; distance < GROUP_SIZE; distance <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint other = item >= distance ? totals[item - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        totals[item] += other;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        uint before = 0, state_word = 0;
        for (uint of = tile; of > 0 && state_word == 0; of--) {
            for (uint looks = 0; looks < MAX_LOOKS && state_word == 0; looks++)
                state_word = atomic_or(&state[of], 0);
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            if (state_word != 0)
                before += atomic_or(&sums[of - 1], 0);
            else
                for (ulong i = (of - 1) * values_of_tile; i < of * values_of_tile; i++)
                    before += in[i];
        }
        atomic_xchg(&sums[tile], before + totals[GROUP_SIZE - 1]);
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_xchg(&state[1 + tile], 1);
        base = before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = base + totals[item] - sum;
    for (uint k = 0; k < VALUES_PER_ITEM; k++) {
        const uint after = before + values[k];
        if (first + k < n)
            out[first + k] = inclusive ? after : before;
        before = after;
    }
}
#endif
