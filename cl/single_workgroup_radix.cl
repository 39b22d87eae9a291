/* Sorts a small array with one work-group in one launch: the keys stay in private and local memory for all passes.
 *
 *   GROUP_SIZE, KEYS_PER_ITEM, RADIX_BITS, RANK  see digit_rank.clh; TILE, their product, is the longest array */
#include "tile_sort.clh"

/* Sorts n <= TILE keys by the window [begin, end) of their codes, stably. May work in place. */
TILE_KERNEL void single_workgroup_radix(__global const key_t *keys_in, __global key_t *keys_out,
#if HAS_VALUES
                                        __global const value_t *values_in, __global value_t *values_out,
#endif
                                        uint n, uint begin, uint end, codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    const uint item = (uint)get_local_id(0);
    if (item == 0)
        memory[ZERO_AT / 4] = 0;
#if HAS_VALUES
    sort_tile(memory, item, keys_in, keys_out, values_in, values_out, 0, n, begin, end, codec, flags);
#else
    sort_tile(memory, item, keys_in, keys_out, n, begin, end, codec, flags);
#endif
}
