/* A histogram by a window of code bits or by edges of ranges, with atomics on global counters and any number of bins. */
#include "key_codec.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/primitives/histogram.ts"
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
