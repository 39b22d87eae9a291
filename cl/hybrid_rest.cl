/* The buckets that hybrid_finish leaves out because counting would take long: one group sorts each, by the digits
 * in which its keys differ.
 *
 *   GROUP_SIZE, KEYS_PER_ITEM, RADIX_BITS, RANK  see digit_rank.clh
 *   OFFSET_BITS  32: fewer than 2^31 keys */
#include "run_move.clh"
#include "hybrid_bucket.clh"

/* Bits in which the codes [first, last) differ.
 * @param differing  two words of local memory
 * @pre   called by all work-items of the group */
INLINE ulong differing_bits(__local uint *differing, __global const key_t *codes, uint first, uint last)
{
    const uint item = (uint)get_local_id(0);
    if (item < 2)
        differing[item] = 0;
    const code_t code = codes[first];
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong own = 0;
    for (uint i = first + item; i < last; i += GROUP_SIZE)
        own |= codes[i] ^ code;
    atomic_or(&differing[0], (uint)own);
    atomic_or(&differing[1], (uint)(own >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong all = (ulong)differing[1] << 32 | differing[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}

INLINE bool digit_differs(ulong differ, uint shift)
{
    return (differ >> shift & (BINS - 1)) != 0;
}

/* Sorts each listed bucket. Its elements alternate between the two arrays, and end in the output.
 * @param keys  codes, sorted by the bits from plan[PLAN_LOW] on; those of the listed buckets are overwritten
 * @param list  start and end of each bucket */
TILE_KERNEL void hybrid_rest(__global key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                             __global value_t *values, __global value_t *values_out,
#endif
                             __global const uint *plan, __global const uint2 *list, codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    __local uint differing[2];
    const uint item = (uint)get_local_id(0), low = plan[PLAN_LOW], listed = plan[PLAN_LISTED];
    if (item == 0)
        memory[ZERO_AT / 4] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_group_id(0); i < listed; i += (uint)get_num_groups(0)) {
        const uint first = list[i].x, last = list[i].y;
        const ulong differ = differing_bits(differing, keys, first, last);
        uint passes = 0;
        for (uint shift = 0; shift < low; shift += RADIX_BITS)
            passes += digit_differs(differ, shift);
        /* An odd number of passes ends in the output: an additional pass by no bits copies. */
        uint shift = 0, bits = passes % 2 == 0 ? 0 : RADIX_BITS;
        passes += passes % 2 == 0;
        for (bool to_output = true; passes > 0; to_output = !to_output) {
            while (bits > 0 && !digit_differs(differ, shift))
                shift += RADIX_BITS;
            passes--;
            const digit_t digit = digit_at(shift, bits, 2);
            const uint own = passes == 0 ? flags & FLAG_DECODE : 0;
            __global key_t *from = to_output ? keys : keys_out, *to = to_output ? keys_out : keys;
#if HAS_VALUES
            __global value_t *values_from = to_output ? values : values_out, *values_to = to_output ? values_out : values;
            sort_run(memory, from, to, values_from, values_to, 0, first, last, digit, codec, own);
#else
            sort_run(memory, from, to, first, last, digit, codec, own);
#endif
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            shift += bits;
            bits = RADIX_BITS;
        }
    }
}
