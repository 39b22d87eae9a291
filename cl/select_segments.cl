/* Selects the k first keys of each segment, in input order: a radix select by one group per segment.
 *
 * Digit by digit from the top, the group counts the digits of the segment's keys that match the threshold so far,
 * and takes the digit of the k-th key. Once few keys match, it keeps them in local memory. It selects all keys below
 * the threshold, and the first of the keys equal to it until k are selected. A stable sort of the selected keys equals the start of a
 * stable sort of the segment. */
#include "find_bin.clh"
#include "key_codec.clh"

#define SELECT_BITS 8
#define SELECT_BINS (1u << SELECT_BITS)
#define AT_ONCE 8u /* keys that a work-item has in flight */
#define LISTED 1024u /* keys that are kept in local memory as soon as no more match the threshold */

/* Two counts in one word: a tile has fewer than 2^16 keys. */
typedef uint operand_t;
#define COMBINE(a, b) ((a) + (b))
#define IDENTITY 0u
#if INLINE_PTX
# define ROUNDS 8
#else
# define ROUNDS 4
#endif
#include "tile_scan.clh"
#define TILE (ROUNDS * GROUP_SIZE)

/* @param begins  start of each segment's selected keys, then their total number
 * @pre   offsets are non-decreasing from 0 to n; of each segment at most as many keys are selected as it has
 * @post  selected, positions = the selected keys of each segment and their positions */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void select_segments(__global const key_t *keys, __global const uint *offsets, __global const uint *begins,
                     __global key_t *selected, __global uint *positions, ulong n, codec_t codec)
{
    __local uint bins[SELECT_BINS], scratch[WORK_GROUP_SCAN_WORDS], tile_scratch[TILE_SCAN_OPERANDS];
    __local code_t list[LISTED];
    __local uint found_bin[3], listed;
    const uint item = (uint)get_local_id(0), segment = (uint)get_group_id(0);
    /* Not beyond the array, even if the offsets have changed since they were checked. */
    const uint last = (uint)min((ulong)offsets[segment + 1], n), first = min(offsets[segment], last);
    uint to = begins[segment];
    const uint wanted = min(begins[segment + 1] - to, last - first);
    if (wanted == 0)
        return;

    code_t threshold = CODE_MAX;
    uint missing = wanted; /* of the keys equal to the threshold */
    if (wanted < last - first) {
        threshold = 0;
        uint left = last - first; /* keys that match the threshold */
        bool is_listed = false;
        for (uint end = KEY_BITS; end > 0; end -= SELECT_BITS) {
            const uint shift = end - SELECT_BITS;
            const code_t above = end < KEY_BITS ? CODE_MAX << end & CODE_MAX : 0;
            const bool lists = !is_listed && left <= LISTED;
            for (uint bin = item; bin < SELECT_BINS; bin += GROUP_SIZE)
                bins[bin] = 0;
            if (item == 0 && lists)
                listed = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint tile = first; !is_listed && tile < last; tile += AT_ONCE * GROUP_SIZE) {
                code_t codes[AT_ONCE];
#pragma unroll
                for (uint i = 0; i < AT_ONCE; i++) {
                    const uint at = tile + i * GROUP_SIZE + item;
                    codes[i] = encode_key(keys[at < last && at >= tile ? at : first], codec);
                }
#pragma unroll
                for (uint i = 0; i < AT_ONCE; i++) {
                    if (i * GROUP_SIZE + item < last - tile && ((codes[i] ^ threshold) & above) == 0) {
                        if (lists)
                            list[atomic_inc(&listed)] = codes[i];
                        else
                            atomic_inc(&bins[code_digit(codes[i], shift, SELECT_BITS)]);
                    }
                }
                if (last - tile <= AT_ONCE * GROUP_SIZE)
                    break; /* the sum may wrap */
            }
            is_listed |= lists;
            if (lists)
                barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = item; is_listed && i < listed; i += GROUP_SIZE) {
                const code_t code = list[i];
                if (((code ^ threshold) & above) == 0)
                    atomic_inc(&bins[code_digit(code, shift, SELECT_BITS)]);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            find_bin(bins, SELECT_BINS, missing - 1, scratch, found_bin);
            threshold |= (code_t)found_bin[0] << shift;
            missing -= found_bin[1];
            left = found_bin[2];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }

    /* Selects all keys below the threshold and the `missing` first equal ones. The number of selected keys before a
     * key is its output position. */
    uint equal = 0;
    for (uint tile = first; tile < last; tile += TILE) {
        key_t found[ROUNDS];
        uint mine[ROUNDS], before[ROUNDS];
#pragma unroll
        for (uint i = 0; i < ROUNDS; i++) {
            const uint at = tile + i * GROUP_SIZE + item;
            found[i] = keys[at < last && at >= tile ? at : first];
        }
#pragma unroll
        for (uint i = 0; i < ROUNDS; i++) {
            const code_t code = encode_key(found[i], codec);
            const bool is_inside = i * GROUP_SIZE + item < last - tile;
            mine[i] = is_inside ? (code < threshold) | (uint)(code == threshold) << 16 : 0;
        }
        const uint total = tile_scan(mine, before, tile_scratch);
#pragma unroll
        for (uint i = 0; i < ROUNDS; i++) {
            const uint equal_before = equal + (before[i] >> 16);
            if ((mine[i] & 1) || (mine[i] && equal_before < missing)) {
                const uint place = to + (before[i] & 0xffff) + min(equal_before, missing) - min(equal, missing);
                selected[place] = found[i];
                positions[place] = tile + i * GROUP_SIZE + item;
            }
        }
        to += (total & 0xffff) + min(equal + (total >> 16), missing) - min(equal, missing);
        equal += total >> 16;
        if (last - tile <= TILE)
            break;
    }
}
