/* Histogram with counters in local memory. Each group has several columns of counters: neighbouring work-items use
 * different columns, and so different banks, however skewed the keys are. Groups add their counts to the result.
 *
 *   COLUMNS    copies of the counters, a power of two
 *   BY         0: a digit of the codes; 1: bins of equal widths, which are powers of two; 2: any edges
 *   HAND_OVER  1: the last group to finish writes the result and zeroes the sums; 0: the sums are the result
 * See vector_keys.clh for further macros that the host sets.
 */
#include "key_codec.clh"
#include "local_memory.clh"
#include "vector_keys.clh"
#include "primitive.clh"

#if !defined(GROUP_SIZE) || !defined(ROUNDS) || !defined(COLUMNS) || !defined(BY) || !defined(HAND_OVER)
# error "GROUP_SIZE, ROUNDS, COLUMNS, BY and HAND_OVER: set by src/primitives/histogram-columns.ts"
#endif
#if HAND_OVER && !INLINE_PTX
# error "HAND_OVER: what groups have added is known to be there on NVIDIA's devices only"
#endif
#define NO_BIN 0xffffffffu
#define CONTROL_MARGIN 32 /* words before the sums, so that the counter of finished groups has its own cache line */

/* @return the bin of a code, NO_BIN if it has none. The last bin includes its upper edge.
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

/* Counts one key. A group of one work-item has one column per vector lane: neighbouring keys are often equal, and
 * no counter is then read before its last write completes.
 * @param column  of the work-item, or of the lane */
INLINE void count_key(__local uint *columns, uint column, key_t key, uint bins, uint shift, code_t low, code_t high,
                      codec_t codec, __local const key_t *edges)
{
    const uint bin = bin_of(encode_key(key, codec), bins, shift, low, high, edges);
    if (BY != 0 && bin == NO_BIN)
        return;
#if GROUP_SIZE == 1
    columns[bin * COLUMNS + column]++;
#else
    local_add(columns, LOCAL_BASE(columns) + (bin * COLUMNS + column) * 4, 1);
#endif
}

/* @param item  index of the work-item in the group */
INLINE void count_vector(__local uint *columns, uint item, packed_t packed, uint bins, uint shift, code_t low, code_t high,
                         codec_t codec, __local const key_t *edges)
{
    key_t keys[VECTOR_KEYS];
    unpack_keys(packed, keys);
#pragma unroll
    for (uint i = 0; i < VECTOR_KEYS; i++)
        count_key(columns, (GROUP_SIZE == 1 ? i : item) % COLUMNS, keys[i], bins, shift, low, high, codec, edges);
}
#define BINNING bins, shift, (code_t)low, (code_t)high, codec, edges

#if HAND_OVER
/* Previous writes of this work-item are visible to all later reads by others. */
INLINE void write_through(void)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* @pre   called by all work-items of the group, which have added their counts to `sums`
 * @post  in the last group: result_words[bin] = the total count; sums and *done are zero again */
INLINE void hand_over(__global uint *done, __global uint *sums, uint bins, __global uint *result_words, __local uint *last)
{
    write_through();
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        *last = atomic_inc(done) == (uint)get_num_groups(0) - 1;
        write_through();
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!*last)
        return;
    for (uint bin = (uint)get_local_id(0); bin < bins; bin += GROUP_SIZE)
        result_words[bin] = atomic_xchg(&sums[bin], 0);
    if (get_local_id(0) == 0)
        atomic_xchg(done, 0);
}
#endif

/* @param columns  bins * COLUMNS words of local memory
 * @param edges    local memory for bins + 1 codes; unused unless BY is 2
 * @param result_words     HAND_OVER: receives the counts from word `at` on
 * @pre   words `at` to `at` + bins of counts are zero; HAND_OVER: counts[0], and the `bins` words after a margin
 * @post  these words hold the counts, or are zero again and `result_words` has the counts */
PRIMITIVE_KERNEL
void histogram_columns(__global const key_t *in, __global uint *counts, __global const key_t *all_edges, ulong n, uint bins,
                       uint shift, ulong low, ulong high, codec_t codec, __local uint *columns, __local key_t *edges,
                       __global uint *result_words, uint at)
{
    const uint item = (uint)get_local_id(0);
    const ulong stride = get_global_size(0), vectors = n / VECTOR_KEYS;
#if HAND_OVER
    __local uint last;
#endif
    for (uint i = item; i < bins * COLUMNS; i += GROUP_SIZE)
        columns[i] = 0;
#if BY == 2
    for (uint i = item; i <= bins; i += GROUP_SIZE)
        edges[i] = all_edges[i];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);

    ulong vector = get_global_id(0);
    for (; vector + (ROUNDS - 1) * stride < vectors; vector += ROUNDS * stride) {
        packed_t packed[ROUNDS]; /* many loads in flight */
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            packed[round] = load_packed(in + (vector + round * stride) * VECTOR_KEYS);
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            count_vector(columns, item, packed[round], BINNING);
    }
    if (vector < vectors) {
        packed_t packed[ROUNDS]; /* and those of the rest */
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            if (vector + round * stride < vectors)
                packed[round] = load_packed(in + (vector + round * stride) * VECTOR_KEYS);
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            if (vector + round * stride < vectors)
                count_vector(columns, item, packed[round], BINNING);
    }
    for (ulong i = vectors * VECTOR_KEYS + get_global_id(0); i < n; i += stride)
        count_key(columns, item % COLUMNS, in[i], BINNING);
    barrier(CLK_LOCAL_MEM_FENCE);

    __global uint *sums = counts + (HAND_OVER ? CONTROL_MARGIN : at);
    for (uint bin = item; bin < bins; bin += GROUP_SIZE) {
        uint sum = 0;
        for (uint column = 0; column < COLUMNS; column++)
            sum += columns[bin * COLUMNS + (column + bin) % COLUMNS];
        if (sum != 0)
            atomic_add(&sums[bin], sum);
    }
#if HAND_OVER
    hand_over(counts, sums, bins, result_words + at, &last);
#endif
}
