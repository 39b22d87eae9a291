/* Layouts of private counters, tagged counters and merges, for comparison in clsort explain and clsort bench
 * ladder. The histograms of operations are in histogram_columns.cl and histogram.cl.
 *
 *   LAB_LAYOUT  order of the bytes of work-items and bins: 0 grouped by work-item, 1 grouped by bin, 2 grouped by bin
 *               with neighbours four bytes apart, so that each has its own bank */
#include "histogram.cl"
#include "trace.clh"

#ifndef LAB_LAYOUT
# error "LAB_LAYOUT: 0, 1 or 2, set by src/lab/histogram.ts"
#endif

#define PRIVATE_BINS 64u
#define WAVE_BINS 256u
#define WAVES ((GROUP_SIZE + 31) / 32)

/* Neighbours of the permuted layout are 4 bytes, one bank, apart. @pre  GROUP_SIZE is a multiple of 4 */
#define PERMUTED(item) ((item) % (GROUP_SIZE / 4u) * 4u + (item) / (GROUP_SIZE / 4u))

#if LAB_LAYOUT == 0
# define LAB_COUNTER(item, bin) ((item) * PRIVATE_BINS + (bin))
# define FLUSHED(k, bin) (k)
#else
# if LAB_LAYOUT == 1
/* Bins start at the same bank: each work-item starts its sum one word further on. */
#  define LAB_COUNTER(item, bin) ((bin) * GROUP_SIZE + (item))
#  define FLUSHED(k, bin) (((k) + 4u * (bin)) % GROUP_SIZE)
# else
#  define LAB_COUNTER(item, bin) ((bin) * GROUP_SIZE + PERMUTED(item))
#  define FLUSHED(k, bin) (((k) + (bin)) % GROUP_SIZE)
# endif
#endif

#define LAB_KERNEL(name, traced)                                                                                        \
    __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void name(                                         \
        __global const key_t *keys, __global uint *counts, __global const key_t *edges, ulong n, uint bins, uint shift, \
        uint by_edges, codec_t codec TRACED(traced))

/* A byte per work-item and bin, and one flush at the end, whose reads are free of bank conflicts in every layout:
 * only the counting differs.
 * @pre  no work-item gets more than 255 keys */
LAB_KERNEL(histogram_layout, uchar)
{
    __local uchar counters[PRIVATE_BINS * GROUP_SIZE];
    const uint item = (uint)get_local_id(0);

    for (uint bin = 0; bin < PRIVATE_BINS; bin++)
        counters[bin * GROUP_SIZE + item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const uint bin = BIN_OF(i);
        if (bin < bins)
            counters[LAB_COUNTER(item, bin)]++;
    }
    TRACE_LOCAL(counters[word], PRIVATE_BINS * GROUP_SIZE)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < bins; bin += GROUP_SIZE) {
        uint sum = 0;
        for (uint k = 0; k < GROUP_SIZE; k++)
            sum += counters[LAB_COUNTER(FLUSHED(k, bin), bin)];
        counts[get_group_id(0) * bins + bin] = sum;
    }
}

/* Tagged counters, from before local memory had atomics: a row of 32 work-items shares a histogram. A work-item
 * writes the count tagged with its lane number, and tries again if its tag was overwritten. The original has no
 * barriers and is correct in lock step only; the three barriers per attempt are the cost of not relying on that.
 * The original uses plain stores where several work-items store at once, which OpenCL leaves undefined. An exchange
 * with an unused result is the defined equivalent. */
#define TAG_SHIFT 27u
#define COUNT_MASK ((1u << TAG_SHIFT) - 1u)

LAB_KERNEL(histogram_tagged, uint)
{
    __local uint tagged[WAVES * WAVE_BINS];
    __local uint waiting[3];
    const uint item = (uint)get_local_id(0), tag = (item % 32) << TAG_SHIFT;
    __local uint *row = tagged + item / 32 * WAVE_BINS;
    const ulong stride = get_global_size(0), rounds = (n + stride - 1) / stride;
    uint attempt = 0;

    for (uint i = item; i < WAVES * WAVE_BINS; i += GROUP_SIZE)
        tagged[i] = 0;
    if (item < 3)
        waiting[item] = 0;
    if (GROUP_SIZE < 3 && item == 0)
        waiting[GROUP_SIZE] = waiting[2] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong round = 0; round < rounds; round++) {
        const uint bin = BIN_OF(round * stride + get_global_id(0));
        bool pending = bin < bins;
        for (bool again = true; again; attempt++) {
            uint mine = 0;
            if (item == 0)
                waiting[(attempt + 1) % 3] = 0;
            if (pending)
                mine = ((row[bin] + 1) & COUNT_MASK) | tag;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (pending)
                atomic_xchg(&row[bin], mine);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (pending && row[bin] == mine)
                pending = false;
            if (pending)
                waiting[attempt % 3] = 1;
            barrier(CLK_LOCAL_MEM_FENCE);
            again = waiting[attempt % 3] != 0;
        }
    }
    TRACE_LOCAL(tagged[word], WAVES * WAVE_BINS)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < bins; bin += GROUP_SIZE) {
        uint sum = 0;
        for (uint wave = 0; wave < WAVES; wave++)
            sum += tagged[wave * WAVE_BINS + bin] & COUNT_MASK;
        counts[get_group_id(0) * bins + bin] = sum;
    }
}

/* A histogram for each row of 32 work-items, by atomics. */
LAB_KERNEL(histogram_rows, uint)
{
    __local uint waves[WAVES * WAVE_BINS];
    const uint item = (uint)get_local_id(0);

    for (uint i = item; i < WAVES * WAVE_BINS; i += GROUP_SIZE)
        waves[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const uint bin = BIN_OF(i);
        if (bin < bins)
            atomic_inc(&waves[item / 32 * WAVE_BINS + bin]);
    }
    TRACE_LOCAL(waves[word], WAVES * WAVE_BINS)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < bins; bin += GROUP_SIZE) {
        uint sum = 0;
        for (uint wave = 0; wave < WAVES; wave++)
            sum += waves[wave * WAVE_BINS + bin];
        counts[get_group_id(0) * bins + bin] = sum;
    }
}

/* Sums the histograms of groups. */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void histogram_merge(__global const uint *partials, __global uint *counts, uint bins, uint groups)
{
    const uint bin = (uint)get_global_id(0);
    if (bin >= bins)
        return;
    uint sum = 0;
    for (uint group = 0; group < groups; group++)
        sum += partials[group * bins + bin];
    counts[bin] = sum;
}

/* As histogram_merge with one group per bin: its work-items read neighbouring histograms and sum them in a tree. */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void histogram_merge_parallel(__global const uint *partials, __global uint *counts, uint bins, uint groups)
{
    __local uint sums[GROUP_SIZE];
    const uint item = (uint)get_local_id(0), bin = (uint)get_group_id(0);
    uint sum = 0;
    for (uint group = item; group < groups; group += GROUP_SIZE)
        sum += partials[group * bins + bin];
    sums[item] = sum;
    for (uint distance = GROUP_SIZE / 2; distance > 0; distance >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < distance)
            sums[item] += sums[item + distance];
    }
    if (item == 0)
        counts[bin] = sums[0];
}

#if KEY_BITS == 8
/* Images of bytes: 16 of them in one load, counted as in histogram_rows. */
LAB_KERNEL(histogram_bytes_vector, uint)
{
    __local uint waves[WAVES * WAVE_BINS];
    const uint item = (uint)get_local_id(0);
    __local uint *own = waves + item / 32 * WAVE_BINS;
    const ulong vectors = n / 16;

    for (uint i = item; i < WAVES * WAVE_BINS; i += GROUP_SIZE)
        waves[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < vectors; i += get_global_size(0)) {
        const uint4 four = vload4(i, (__global const uint *)keys);
        const uint words[4] = {four.x, four.y, four.z, four.w};
        for (uint word = 0; word < 4; word++)
            for (uint byte = 0; byte < 32; byte += 8)
                atomic_inc(&own[(words[word] >> (byte + shift)) & (bins - 1)]);
    }
    for (ulong i = 16 * vectors + get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&own[(uint)(keys[i] >> shift) & (bins - 1)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < bins; bin += GROUP_SIZE) {
        uint sum = 0;
        for (uint wave = 0; wave < WAVES; wave++)
            sum += waves[wave * WAVE_BINS + bin];
        counts[get_group_id(0) * bins + bin] = sum;
    }
}
#endif
