/* Histograms, by a window of code bits or by edges of ranges.
 *
 *   histogram_global   atomics on global counters, any number of bins
 *   histogram_private  at most 64 bins: one byte per bin and work-item, flushed before it can overflow
 *   histogram_waves    at most 256 bins: one histogram per 32 work-items in local memory, by atomics
 *   histogram_merge    sums the group histograms of the last two
 *
 *   LAYOUT  of the private bytes: 0 grouped by work-item, 1 grouped by bin
 */
#include "key_codec.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/primitives/histogram.ts"
#endif
#ifndef LAYOUT
# error "LAYOUT: 0 or 1, set by src/primitives/histogram.ts"
#endif

#define HISTOGRAM_KERNEL(name)                                                                                          \
    __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void name(                                         \
        __global const key_t *keys, __global uint *counts, __global const key_t *edges, ulong n, uint bins, uint shift, \
        uint by_edges, codec_t codec)

/* @return the bin of key i, or `bins` if it has none: beyond n or outside of the edges. Bin b holds edges[b] <=
 *         code < edges[b + 1]; the last one includes its upper edge. */
INLINE uint bin_of(__global const key_t *keys, __global const key_t *edges, ulong i, ulong n, uint bins, uint shift,
                   uint by_edges, codec_t codec)
{
    if (i >= n)
        return bins;
    const code_t code = encode_key(keys[i], codec);
    if (!by_edges)
        return (uint)(code >> shift) & (bins - 1);
    if (code < edges[0] || code > edges[bins])
        return bins;
    uint low = 0, high = bins;
    while (high - low > 1) {
        const uint middle = (low + high) >> 1;
        if (edges[middle] <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#define BIN_OF(i) bin_of(keys, edges, i, n, bins, shift, by_edges, codec)

HISTOGRAM_KERNEL(histogram_global)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const uint bin = BIN_OF(i);
        if (bin < bins)
            atomic_inc(&counts[bin]);
    }
}

#define PRIVATE_BINS 64u
#if LAYOUT == 0
# define COUNTER(item, bin) ((item) * PRIVATE_BINS + (bin))
#else
# define COUNTER(item, bin) ((bin) * GROUP_SIZE + (item))
#endif

HISTOGRAM_KERNEL(histogram_private)
{
    __local uchar counters[PRIVATE_BINS * GROUP_SIZE];
    __local uint totals[PRIVATE_BINS];
    const uint item = (uint)get_local_id(0);
    const ulong stride = get_global_size(0);
    const ulong rounds = (n + stride - 1) / stride;

    for (uint bin = item; bin < PRIVATE_BINS; bin += GROUP_SIZE)
        totals[bin] = 0;
    for (uint bin = 0; bin < PRIVATE_BINS; bin++)
        counters[COUNTER(item, bin)] = 0;
    for (ulong round = 0; round < rounds;) {
        /* A byte counts to 255: flush after as many keys. */
        const ulong flush = min(round + 255, rounds);
        for (; round < flush; round++) {
            const uint bin = BIN_OF(round * stride + get_global_id(0));
            if (bin < bins)
                counters[COUNTER(item, bin)]++;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint bin = item; bin < bins; bin += GROUP_SIZE) {
            uint sum = 0;
            for (uint other = 0; other < GROUP_SIZE; other++) {
                sum += counters[COUNTER(other, bin)];
                counters[COUNTER(other, bin)] = 0;
            }
            totals[bin] += sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint bin = item; bin < bins; bin += GROUP_SIZE)
        counts[get_group_id(0) * bins + bin] = totals[bin];
}

#define WAVE_BINS 256u
#define WAVES ((GROUP_SIZE + 31) / 32)

HISTOGRAM_KERNEL(histogram_waves)
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
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < bins; bin += GROUP_SIZE) {
        uint sum = 0;
        for (uint wave = 0; wave < WAVES; wave++)
            sum += waves[wave * WAVE_BINS + bin];
        counts[get_group_id(0) * bins + bin] = sum;
    }
}

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
