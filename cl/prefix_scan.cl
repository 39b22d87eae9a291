/* Scans of any n: by sum, product, minimum or maximum.
 *
 *   scan_once          every key read and written once: groups tell each other what their tiles hold (look_back.clh)
 *   scan_part_totals   elsewhere two launches: each group combines its part of the keys,
 *   scan_parts         and scans it, beginning with what the parts before hold
 *
 * See combine.clh, vector_keys.clh, tile_scan.clh and look_back.clh for what the host sets.
 */
#include "combine.clh"
#include "vector_keys.clh"
#include "tile_scan.clh"

#define TILE_KEYS (ROUNDS * GROUP_SIZE * VECTOR_KEYS)
#define SCAN_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))

/* The VECTOR_KEYS operands from `at` on: IDENTITY behind the last key. */
INLINE void load_operands(__global const key_t *in, ulong at, ulong n, codec_t codec, operand_t operands[VECTOR_KEYS])
{
    key_t keys[VECTOR_KEYS];
    if (at + VECTOR_KEYS <= n) {
        load_keys(in + at, keys);
#pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++)
            operands[i] = operand_of(keys[i], codec);
    } else {
#pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++)
            operands[i] = at + i < n ? operand_of(in[at + i], codec) : IDENTITY;
    }
}

/* The operands of the tile from `start` on. */
INLINE void load_tile(__global const key_t *in, ulong start, ulong n, codec_t codec, operand_t operands[ROUNDS][VECTOR_KEYS])
{
    const uint item = (uint)get_local_id(0);
#pragma unroll
    for (uint round = 0; round < ROUNDS; round++)
        load_operands(in, start + (ulong)(round * GROUP_SIZE + item) * VECTOR_KEYS, n, codec, operands[round]);
}

/* What each round of a work-item comes to. */
INLINE void combine_rounds(operand_t operands[ROUNDS][VECTOR_KEYS], operand_t own[ROUNDS])
{
#pragma unroll
    for (uint round = 0; round < ROUNDS; round++) {
        own[round] = operands[round][0];
#pragma unroll
        for (uint i = 1; i < VECTOR_KEYS; i++)
            own[round] = COMBINE(own[round], operands[round][i]);
    }
}

/* @param before   what lies in the tile before each round of the work-item
 * @param carry    what lies before the tile
 */
INLINE void store_tile(__global key_t *out, ulong start, ulong n, codec_t codec, operand_t operands[ROUNDS][VECTOR_KEYS],
                       operand_t before[ROUNDS], operand_t carry, uint inclusive)
{
    const uint item = (uint)get_local_id(0);
#pragma unroll
    for (uint round = 0; round < ROUNDS; round++) {
        const ulong at = start + (ulong)(round * GROUP_SIZE + item) * VECTOR_KEYS;
        operand_t sum = COMBINE(carry, before[round]);
        key_t keys[VECTOR_KEYS];
#pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++) {
            const operand_t next = COMBINE(sum, operands[round][i]);
            keys[i] = key_of(inclusive ? next : sum, codec);
            sum = next;
        }
        if (at + VECTOR_KEYS <= n) {
            store_keys(out + at, keys);
        } else {
#pragma unroll
            for (uint i = 0; i < VECTOR_KEYS; i++)
                if (at + i < n)
                    out[at + i] = keys[i];
        }
    }
}

/* All keys of a tile combined, for every work-item: seldom needed, and so by few registers rather than at once. */
INLINE operand_t tile_total(__global const key_t *in, ulong start, ulong n, codec_t codec, __local operand_t *scratch)
{
    const uint item = (uint)get_local_id(0);
    operand_t total = IDENTITY;
#pragma unroll 1
    for (uint round = 0; round < ROUNDS; round++) {
        operand_t operands[VECTOR_KEYS];
        load_operands(in, start + (ulong)(round * GROUP_SIZE + item) * VECTOR_KEYS, n, codec, operands);
#pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++)
            total = COMBINE(total, operands[i]);
    }
    return combine_group(total, scratch);
}

/* Products of floats are of neighbours only: those of every second key may be far larger than any that is asked for. */
#define ONLY_NEIGHBOURS (FLOAT_OPERANDS && OP == 3)

/* @post totals[part] = all keys of the part combined; a part is `tiles` tiles long */
SCAN_KERNEL void scan_part_totals(__global const key_t *in, __global operand_t *totals, ulong n, uint tiles, codec_t codec)
{
    __local operand_t scratch[TILE_SCAN_OPERANDS];
    const ulong first = (ulong)get_group_id(0) * tiles * TILE_KEYS;
    operand_t sum = IDENTITY;
    LOST_OPERAND
    for (uint tile = 0; tile < tiles; tile++) {
        const ulong start = first + (ulong)tile * TILE_KEYS;
        operand_t operands[ROUNDS][VECTOR_KEYS], own[ROUNDS], of_tile = IDENTITY;
        load_tile(in, start, n, codec, operands);
        combine_rounds(operands, own);
#if ONLY_NEIGHBOURS
        operand_t before[ROUNDS];
        of_tile = tile_scan(own, before, scratch);
#else
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            of_tile = COMBINE(of_tile, own[round]);
#endif
        ADD_OPERAND(sum, of_tile)
    }
#if ONLY_NEIGHBOURS
    const operand_t all = sum;
#else
    const operand_t all = combine_group(sum, scratch);
#endif
    if (get_local_id(0) == 0)
        totals[get_group_id(0)] = all;
}

/* @pre  totals as scan_part_totals has left them, for parts of as many tiles; `in` may be `out` */
SCAN_KERNEL void scan_parts(__global const key_t *in, __global key_t *out, __global const operand_t *totals, ulong n,
                            uint tiles, uint inclusive, codec_t codec)
{
    __local operand_t scratch[TILE_SCAN_OPERANDS];
    const uint part = (uint)get_group_id(0);
    const ulong first = (ulong)part * tiles * TILE_KEYS;
    operand_t carry = IDENTITY;
    LOST_OPERAND
#if ONLY_NEIGHBOURS
    for (uint i = 0; i < part; i++)
        carry = COMBINE(carry, totals[i]);
#else
    for (uint i = (uint)get_local_id(0); i < part; i += GROUP_SIZE)
        ADD_OPERAND(carry, totals[i])
    carry = combine_group(carry, scratch);
#endif
#if FLOAT_OPERANDS && OP == 0
    lost = 0;
#endif
    for (uint tile = 0; tile < tiles; tile++) {
        const ulong start = first + (ulong)tile * TILE_KEYS;
        if (start >= n)
            return;
        operand_t operands[ROUNDS][VECTOR_KEYS], own[ROUNDS], before[ROUNDS];
        load_tile(in, start, n, codec, operands);
        combine_rounds(operands, own);
        const operand_t total = tile_scan(own, before, scratch);
        store_tile(out, start, n, codec, operands, before, carry, inclusive);
        ADD_OPERAND(carry, total)
    }
}

#if !FLOAT_OPERANDS
#include "look_back.clh"

/* @param control  tickets, see take_tile; behind a margin the states of all tiles
 * @param launch   a number that no launch since the states were cleared has had
 * @pre  `in` is not `out`: a group may read a tile that another one has written already
 */
SCAN_KERNEL void scan_once(__global const key_t *restrict in, __global key_t *restrict out, __global uint *control, ulong n,
                           uint launch, uint inclusive, codec_t codec)
{
    __local operand_t scratch[TILE_SCAN_OPERANDS];
    __local operand_t heard[HEARD];
    __local uint heads[HEARD], shared;
    __global uint *states = control + CONTROL_MARGIN;
    const uint tile = take_tile(control, &shared);
    const ulong start = (ulong)tile * TILE_KEYS;

    operand_t operands[ROUNDS][VECTOR_KEYS], own[ROUNDS], before[ROUNDS];
    load_tile(in, start, n, codec, operands);
    combine_rounds(operands, own);
    const operand_t total = tile_scan(own, before, scratch);
    LOOK_BACK_FROM(carry, total, states, tile, launch, heard, heads,
                   tile_total(in, (ulong)missing * TILE_KEYS, n, codec, scratch))
    store_tile(out, start, n, codec, operands, before, carry, inclusive);
}
#endif
