/* Prefix sums of any n: each group scans a tile and stores its sum, the sums are scanned in the same way, and
 * scan_add adds them back.
 *
 *   SCAN_TYPE   0 uint (also for signed words), 1 ulong, 2 float, 3 double
 *   GROUP_SIZE  work-items of a group, a power of two */
#include "trace.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, a power of two, set by src/lab/scan.ts"
#endif
#ifndef SCAN_TYPE
# error "SCAN_TYPE: what is summed, set by src/lab/scan.ts"
#endif
#if SCAN_TYPE == 0
typedef uint scan_t;
#elif SCAN_TYPE == 1
typedef ulong scan_t;
#elif SCAN_TYPE == 2
typedef float scan_t;
#else
# pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double scan_t;
#endif

#define SCAN_KERNEL(name)                                                       \
    __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void name( \
        __global const scan_t *in, __global scan_t *out, __global scan_t *sums, ulong n, uint inclusive TRACED(scan_t))

/* Work-efficient scan of 2 * GROUP_SIZE values: sums up a tree, then prefixes down it. AT maps an index to its
 * location in local memory. */
#define SWEEP_BODY(AT)                                                                 \
    const uint item = (uint)get_local_id(0);                                           \
    const ulong first = (ulong)get_group_id(0) * 2 * GROUP_SIZE;                       \
    const ulong i = first + item, j = i + GROUP_SIZE;                                  \
    const scan_t own_i = i < n ? in[i] : (scan_t)0, own_j = j < n ? in[j] : (scan_t)0; \
    tree[AT(item)] = own_i;                                                            \
    tree[AT(item + GROUP_SIZE)] = own_j;                                               \
    TRACE_LOCAL(tree[AT(word)], 2 * GROUP_SIZE)                                        \
    uint distance = 1;                                                                 \
    for (uint pairs = GROUP_SIZE; pairs > 0; pairs >>= 1) {                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        if (item < pairs) {                                                            \
            const uint left = distance * (2 * item + 1) - 1, right = left + distance;  \
            tree[AT(right)] += tree[AT(left)];                                         \
        }                                                                              \
        TRACE_LOCAL(tree[AT(word)], 2 * GROUP_SIZE)                                    \
        distance <<= 1;                                                                \
    }                                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                      \
    if (item == 0) {                                                                   \
        sums[get_group_id(0)] = tree[AT(2 * GROUP_SIZE - 1)];                          \
        tree[AT(2 * GROUP_SIZE - 1)] = 0;                                              \
    }                                                                                  \
    TRACE_LOCAL(tree[AT(word)], 2 * GROUP_SIZE)                                        \
    for (uint pairs = 1; pairs <= GROUP_SIZE; pairs <<= 1) {                           \
        distance >>= 1;                                                                \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        if (item < pairs) {                                                            \
            const uint left = distance * (2 * item + 1) - 1, right = left + distance;  \
            const scan_t sum = tree[AT(left)];                                         \
            tree[AT(left)] = tree[AT(right)];                                          \
            tree[AT(right)] += sum;                                                    \
        }                                                                              \
        TRACE_LOCAL(tree[AT(word)], 2 * GROUP_SIZE)                                    \
    }                                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                      \
    if (i < n)                                                                         \
        out[i] = inclusive ? tree[AT(item)] + own_i : tree[AT(item)];                  \
    if (j < n)                                                                         \
        out[j] = inclusive ? tree[AT(item + GROUP_SIZE)] + own_j : tree[AT(item + GROUP_SIZE)];

#define PLAIN(index) (index)
/* One word of padding per 32 banks keeps the strides of the tree off the same bank. */
#define PADDED(index) ((index) + ((index) >> 5))

SCAN_KERNEL(scan_sweep)
{
    __local scan_t tree[2 * GROUP_SIZE];
    SWEEP_BODY(PLAIN)
}

SCAN_KERNEL(scan_padded)
{
    __local scan_t tree[PADDED(2 * GROUP_SIZE)];
    SWEEP_BODY(PADDED)
}

/* Each work-item sums VALUES_PER_ITEM values, and only these sums are scanned. */
#define VALUES_PER_ITEM 8

SCAN_KERNEL(scan_tile)
{
    __local scan_t totals[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong first = ((ulong)get_group_id(0) * GROUP_SIZE + item) * VALUES_PER_ITEM;
    scan_t values[VALUES_PER_ITEM], sum = 0;
    for (uint k = 0; k < VALUES_PER_ITEM; k++) {
        values[k] = first + k < n ? in[first + k] : (scan_t)0;
        sum += values[k];
    }
    scan_t before = 0;
    totals[item] = sum;
    TRACE_LOCAL(totals[word], GROUP_SIZE)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < GROUP_SIZE; distance <<= 1) {
        const scan_t other = item >= distance ? totals[item - distance] : (scan_t)0;
        barrier(CLK_LOCAL_MEM_FENCE);
        totals[item] += other;
        TRACE_LOCAL(totals[word], GROUP_SIZE)
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item > 0)
        before = totals[item - 1];
    if (item == GROUP_SIZE - 1)
        sums[get_group_id(0)] = totals[item];
    for (uint k = 0; k < VALUES_PER_ITEM; k++) {
        const scan_t after = before + values[k];
        if (first + k < n)
            out[first + k] = inclusive ? after : before;
        before = after;
    }
}

/* Adds to each tile the scanned sum of the tiles before it. */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void scan_add(__global scan_t *out, __global const scan_t *sums, ulong n, uint tile)
{
    const ulong i = get_global_id(0);
    if (i < n)
        out[i] += sums[i / tile];
}
