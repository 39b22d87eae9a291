/* Odd-even transposition sort: n phases; phase p compares the neighbours (i, i + 1) with i = p (mod 2). Stable,
 * because only neighbours that are out of order are swapped. */
#include "comparison.clh"

/* One phase. Work-item t holds the pair that ends at 2t + 1 - parity. A single key at either end is only loaded and
 * stored, so that the first phase encodes and the last one decodes every key. */
GROUP_KERNEL void odd_even_phase(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                                 __global const value_t *values, __global value_t *values_out,
#endif
                                 uint n, uint parity, ulong window, codec_t codec, uint flags)
{
    const uint b = 2u * (uint)get_global_id(0) + 1u - parity;
    const uint a = b - 1u; /* wraps beyond n if there is no left neighbour */
    const bool has_a = a < n, has_b = b < n;
    if (!has_a && !has_b)
        return;
    const code_t code_a = has_a ? code_of(keys[a], codec, flags) : 0;
    const code_t code_b = has_b ? code_of(keys[b], codec, flags) : 0;
    const bool swap = has_a && has_b && (code_a & (code_t)window) > (code_b & (code_t)window);
#if HAS_VALUES
    const value_t value_a = load_value(values, has_a ? a : b, flags);
    const value_t value_b = load_value(values, has_b ? b : a, flags);
#endif
    if (has_a) {
        store_code(keys_out, a, swap ? code_b : code_a, codec, flags);
#if HAS_VALUES
        values_out[a] = swap ? value_b : value_a;
#endif
    }
    if (has_b) {
        store_code(keys_out, b, swap ? code_a : code_b, codec, flags);
#if HAS_VALUES
        values_out[b] = swap ? value_a : value_b;
#endif
    }
}
