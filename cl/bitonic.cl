/* Bitonic sort, the flip form, for any n. Merging two sorted halves starts with a mirror step (i with its mirror
 * image in the block), so every comparator points up. A comparator that reaches beyond n would only meet a key
 * larger than all others, and is left out. No padding is needed, which the unstable network could confuse with keys
 * of the largest code.
 *
 *   BLOCK  keys that one group sorts in local memory, a power of two
 *   TIES   1: equal keys are compared by their original position, which travels along: stable
 */
#include "comparison.clh"

#ifndef BLOCK
# error "BLOCK: keys of a block, a power of two, set by src/algorithms/bitonic.ts"
#endif
#ifndef TIES
# error "TIES: 1 for a stable sort, set by src/algorithms/bitonic.ts"
#endif

/* The lower index of comparator t; *upper receives the upper index.
 * @param stride  0 for the mirror step of blocks of `size`, otherwise the distance, a power of two */
INLINE ulong lower_of(ulong t, ulong size, ulong stride, ulong *upper)
{
    if (stride == 0) {
        const ulong within = t & ((size >> 1) - 1), base = (t - within) << 1;
        *upper = base + size - 1 - within;
        return base + within;
    }
    const ulong within = t & (stride - 1), lower = ((t - within) << 1) + within;
    *upper = lower + stride;
    return lower;
}

#if TIES
# define IS_AFTER(a, order_a, b, order_b) ((a) > (b) || ((a) == (b) && (order_a) > (order_b)))
#else
# define IS_AFTER(a, order_a, b, order_b) ((a) > (b))
#endif

/* One step on global memory: comparator t is work-item t. The arrays hold codes. */
GROUP_KERNEL void bitonic_step(__global key_t *keys,
#if HAS_VALUES
                               __global value_t *values,
#endif
#if TIES
                               __global uint *order,
#endif
                               ulong n, ulong window, ulong size, ulong stride)
{
    ulong b;
    const ulong a = lower_of(get_global_id(0), size, stride, &b);
    if (b >= n)
        return;
    const key_t key_a = keys[a], key_b = keys[b];
#if TIES
    const uint order_a = order[a], order_b = order[b];
#endif
    if (IS_AFTER(key_a & (code_t)window, order_a, key_b & (code_t)window, order_b)) {
        keys[a] = key_b;
        keys[b] = key_a;
#if TIES
        order[a] = order_b;
        order[b] = order_a;
#endif
#if HAS_VALUES
        const value_t value = values[a];
        values[a] = values[b];
        values[b] = value;
#endif
    }
}

/* All steps of sizes first_size to last_size that fit a block, in local memory, one block per group.
 * @param first_size  2 to sort the block, larger than last_size for no step at all
 * @param tail  1: only the steps of last_size with strides below BLOCK, after those on global memory */
GROUP_KERNEL void bitonic_block(__global const key_t *keys_in, __global key_t *keys_out,
#if HAS_VALUES
                                __global const value_t *values_in, __global value_t *values_out,
#endif
#if TIES
                                __global uint *order_out,
#endif
                                ulong n, ulong window, uint first_size, uint last_size, uint tail, codec_t codec, uint flags)
{
    __local key_t keys[BLOCK];
#if HAS_VALUES
    __local value_t values[BLOCK];
#endif
#if TIES
    __local uint order[BLOCK];
#endif
    const uint item = (uint)get_local_id(0);
    const size_t base = (size_t)get_group_id(0) * BLOCK;
    const uint count = (uint)min((ulong)BLOCK, n - base);

    for (uint i = item; i < count; i += GROUP_SIZE) {
        keys[i] = (key_t)code_of(keys_in[base + i], codec, flags);
#if HAS_VALUES
        values[i] = load_value(values_in, base + i, flags);
#endif
#if TIES
        order[i] = (flags & FLAG_FIRST) ? (uint)(base + i) : order_out[base + i];
#endif
    }
    for (uint size = first_size; size <= last_size; size <<= 1) {
        /* The first step of a size is the mirror step, except after the steps on global memory. */
        for (uint distance = size >> 1, stride = tail ? distance : 0; distance > 0; distance >>= 1, stride = distance) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint t = item; t < BLOCK / 2; t += GROUP_SIZE) {
                ulong b;
                const uint a = (uint)lower_of(t, size, stride, &b);
                if (b >= count)
                    continue;
                const key_t key_a = keys[a], key_b = keys[b];
#if TIES
                const uint order_a = order[a], order_b = order[b];
#endif
                if (IS_AFTER(key_a & (code_t)window, order_a, key_b & (code_t)window, order_b)) {
                    keys[a] = key_b;
                    keys[b] = key_a;
#if TIES
                    order[a] = order_b;
                    order[b] = order_a;
#endif
#if HAS_VALUES
                    const value_t value = values[a];
                    values[a] = values[b];
                    values[b] = value;
#endif
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < count; i += GROUP_SIZE) {
        store_code(keys_out, base + i, keys[i], codec, flags);
#if HAS_VALUES
        values_out[base + i] = values[i];
#endif
#if TIES
        order_out[base + i] = order[i];
#endif
    }
}
