/* Sort of a small array by one work-group in one launch: the keys stay in private and local memory for all passes.
 *
 *   GROUP_SIZE, KEYS_PER_ITEM, RADIX_BITS, RANK  see digit_rank.clh; their product TILE is the longest array
 */
#include "radix_tile.clh"

#if RANK == RANK_LANES
# error "group_radix needs an ordered ranking: it sorts by several digits"
#endif

/* Sort n <= TILE keys by the window [begin, end) of their codes, stably. May work in place. */
TILE_KERNEL void group_radix(__global const key_t *keys_in, __global key_t *keys_out,
#if HAS_VALUES
                             __global const value_t *values_in, __global value_t *values_out,
#endif
                             uint n, uint begin, uint end, codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    const tile_t tile = tile_share(memory, (uint)get_local_id(0), n);

    if (get_local_id(0) == 0)
        memory[ZERO_AT / 4] = 0;
    code_t codes[KEYS_PER_ITEM];
    uint ranks[RANK_WORDS], places[PLACE_WORDS];
    load_codes(tile, keys_in, codec, flags, codes);
#if HAS_VALUES
    value_t values[KEYS_PER_ITEM];
    load_values(tile, values_in, 0, flags, values);
#endif

#pragma unroll 1
    for (uint shift = begin; shift < end;) {
        const uint bits = digit_bits(shift, end);
        digit_t digit = digit_at(shift, bits, 2);
        shift += bits;

        clear_counters(memory);
        barrier(CLK_LOCAL_MEM_FENCE);
        count_digits(tile, digit, codes, ranks);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint totals[BINS_PER_ITEM], smaller[BINS_PER_ITEM];
        sum_rows(tile, totals);
        scan_bins(tile, totals, smaller);
        digit = next_phase(tile, digit);
        exchange_codes(tile, digit, codes, ranks, places);
#if HAS_VALUES
        exchange_values(tile, values, places);
#endif
        barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
        for (uint k = 0; k < KEYS_PER_ITEM; k++) {
            const uint number = tile.first + k * ROW_ITEMS;
            codes[k] = load_code(memory, tile.base + CODES_AT + number * CODE_BYTES);
#if HAS_VALUES
            values[k] = load_value(memory, tile.base + VALUES_AT + number * VALUE_SLOT_BYTES);
#endif
        }
    }

#pragma unroll
    for (uint k = 0; k < KEYS_PER_ITEM; k++) {
        const uint number = tile.first + k * ROW_ITEMS;
        if (number < n) {
            keys_out[number] = flags & FLAG_DECODE ? decode_key(codes[k], codec) : (key_t)codes[k];
#if HAS_VALUES
            values_out[number] = values[k];
#endif
        }
    }
}
