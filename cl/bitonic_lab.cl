/* Bitonic sort in its textbook form, with alternately ascending and descending blocks: for clsort explain and
 * clsort bench ladder. It sorts powers of two only. The production form, in bitonic.cl, mirrors the second half of
 * each block instead, and needs neither powers of two nor alternating blocks. */
#include "comparison.clh"

/* One step on global memory: work-item t is comparator t. The arrays hold codes; values are moved along.
 * @pre  n, size and stride are powers of two, stride < size <= n */
GROUP_KERNEL void bitonic_alternating(__global key_t *keys,
#if HAS_VALUES
                                      __global value_t *values,
#endif
                                      ulong n, ulong window, ulong size, ulong stride)
{
    const ulong t = get_global_id(0), within = t & (stride - 1);
    const ulong a = ((t - within) << 1) + within, b = a + stride;
    if (b >= n)
        return;
    const bool up = (a & size) == 0;
    const key_t key_a = keys[a], key_b = keys[b];
    const code_t code_a = key_a & (code_t)window, code_b = key_b & (code_t)window;
    if (up ? code_a > code_b : code_a < code_b) {
        keys[a] = key_b;
        keys[b] = key_a;
#if HAS_VALUES
        const value_t value = values[a];
        values[a] = values[b];
        values[b] = value;
#endif
    }
}
