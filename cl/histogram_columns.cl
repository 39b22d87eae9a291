/* Histogram by counters in local memory, of which each group has several columns: work-items side by side count in different
 * ones, hence in different banks, however skewed the keys are. Groups add what they have counted to the result.
 *
 *   COLUMNS  copies of the counters, a power of two
 *   BY       0 a digit of the codes; 1 bins of equal widths, which are powers of two; 2 any edges
 * vector_keys.clh tells what else the host sets.
 */
#include "key_codec.clh"
#include "vector_keys.clh"

#if !defined(GROUP_SIZE) || !defined(COLUMNS) || !defined(BY)
# error "GROUP_SIZE, COLUMNS and BY: set by src/primitives/histogram-columns.ts"
#endif
#define NO_BIN 0xffffffffu

/* @return the bin of a code, NO_BIN when it is in none. The last bin has its upper edge, too.
 * @param edges  in local memory */
INLINE uint bin_of(code_t code, uint bins, uint shift, code_t low, code_t high, __local const key_t *edges)
{
#if BY == 0
    return (uint)(code >> shift) & (bins - 1);
#else
    if (code < low || code > high)
        return NO_BIN;
# if BY == 1
    return (uint)min((code - low) >> shift, (code_t)(bins - 1));
# else
    uint first = 0, last = bins;
    while (last - first > 1) {
        const uint middle = (first + last) >> 1;
        if (edges[middle] <= code)
            first = middle;
        else
            last = middle;
    }
    return first;
# endif
#endif
}

/* @param columns  bins * COLUMNS words of local memory
 * @param edges    bins + 1 codes, and memory of the group for them; of no use unless BY is 2
 * @pre   counts are zero
 */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void histogram_columns(__global const key_t *in, __global uint *counts, __global const key_t *all_edges, ulong n, uint bins,
                       uint shift, ulong low, ulong high, codec_t codec, __local uint *columns, __local key_t *edges)
{
    const uint item = (uint)get_local_id(0);
    const ulong stride = get_global_size(0), vectors = n / VECTOR_KEYS;
    for (uint i = item; i < bins * COLUMNS; i += GROUP_SIZE)
        columns[i] = 0;
#if BY == 2
    for (uint i = item; i <= bins; i += GROUP_SIZE)
        edges[i] = all_edges[i];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);

#if GROUP_SIZE == 1
    /* Neighbours are often alike: each lane of a vector has a column, so that a counter is not read before it was written. */
# define COUNT(key, lane)                                                                               \
    {                                                                                                   \
        const uint bin = bin_of(encode_key(key, codec), bins, shift, (code_t)low, (code_t)high, edges); \
        if (BY == 0 || bin != NO_BIN)                                                                   \
            columns[bin * COLUMNS + (lane) % COLUMNS]++;                                                \
    }
#else
# define COUNT(key, lane)                                                                               \
    {                                                                                                   \
        const uint bin = bin_of(encode_key(key, codec), bins, shift, (code_t)low, (code_t)high, edges); \
        if (BY == 0 || bin != NO_BIN)                                                                   \
            atomic_inc(&columns[bin * COLUMNS + item % COLUMNS]);                                       \
    }
#endif
    for (ulong at = get_global_id(0); at < vectors; at += stride) {
        key_t keys[VECTOR_KEYS];
        load_keys(in + at * VECTOR_KEYS, keys);
#pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++)
            COUNT(keys[i], i)
    }
    for (ulong i = vectors * VECTOR_KEYS + get_global_id(0); i < n; i += stride)
        COUNT(in[i], 0)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < bins; bin += GROUP_SIZE) {
        uint sum = 0;
        for (uint column = 0; column < COLUMNS; column++)
            sum += columns[bin * COLUMNS + (column + bin) % COLUMNS];
        if (sum != 0)
            atomic_add(&counts[bin], sum);
    }
}
