/* Scans of any n by sum, product, minimum or maximum.
 *
 *   scan_once          every key read and written once: groups publish the totals of their tiles (look_back.clh)
 *   scan_part_totals   otherwise two launches: each group reduces its part of the keys,
 *   scan_parts         and scans it, starting with the total of the preceding parts
 *
 *   ONCE      1: scan_once; 0: the other two
 *   IN_LANES  1: a group is one work-item with its own vector unit, which scans 16 keys at once
 *
 * See combine.clh, vector_keys.clh, tile_scan.clh and look_back.clh for further macros that the host sets.
 */
#include "combine.clh"
#include "vector_keys.clh"
#include "primitive.clh"
#include "tile_scan.clh"

#ifndef ONCE
# error "ONCE: 0 or 1, set by src/primitives/prefix-scan.ts"
#endif
#define TILE_KEYS (ROUNDS * GROUP_SIZE * VECTOR_KEYS)

/* Loads the VECTOR_KEYS operands from `at` on: IDENTITY after the last key. */
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

/* Loads the operands of the tile that starts at `start`. */
INLINE void load_tile(__global const key_t *in, ulong start, ulong n, codec_t codec, operand_t operands[ROUNDS][VECTOR_KEYS])
{
    const uint item = (uint)get_local_id(0);
    if (start + TILE_KEYS <= n) {
        key_t keys[ROUNDS][VECTOR_KEYS]; /* all loads are in flight before the first wait */
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            load_keys(in + start + (round * GROUP_SIZE + item) * VECTOR_KEYS, keys[round]);
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
#pragma unroll
            for (uint i = 0; i < VECTOR_KEYS; i++)
                operands[round][i] = operand_of(keys[round][i], codec);
    } else {
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            load_operands(in, start + (ulong)(round * GROUP_SIZE + item) * VECTOR_KEYS, n, codec, operands[round]);
    }
}

/* Combines the operands of each round of a work-item. */
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

/* Stores the VECTOR_KEYS keys from `at` on, except those beyond the end. */
INLINE void store_vector(__global key_t *out, ulong at, ulong n, const key_t keys[VECTOR_KEYS])
{
    if (at + VECTOR_KEYS <= n) {
        store_keys(out + at, keys);
    } else {
#pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++)
            if (at + i < n)
                out[at + i] = keys[i];
    }
}

/* @param before   combined operands of the tile before each round of the work-item
 * @param carry    combined operands before the tile */
INLINE void store_tile(__global key_t *out, ulong start, ulong n, codec_t codec, operand_t operands[ROUNDS][VECTOR_KEYS],
                       operand_t before[ROUNDS], operand_t carry, uint inclusive)
{
    const uint item = (uint)get_local_id(0);
    const bool is_whole = start + TILE_KEYS <= n;
#pragma unroll
    for (uint round = 0; round < ROUNDS; round++) {
        operand_t sum = COMBINE(carry, before[round]);
        key_t keys[VECTOR_KEYS];
#pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++) {
            const operand_t next = COMBINE(sum, operands[round][i]);
            keys[i] = key_of(inclusive ? next : sum, codec);
            sum = next;
        }
        const ulong at = start + (round * GROUP_SIZE + item) * VECTOR_KEYS;
        if (is_whole)
            store_keys(out + at, keys);
        else
            store_vector(out, at, n, keys);
    }
}

/* All keys of a tile combined, for every work-item. Rarely needed, so it saves registers rather than time. */
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

/* Products of floats combine neighbours only: a product of every second key may exceed all requested results. */
#define ONLY_NEIGHBOURS (FLOAT_OPERANDS && OP == 3)

#ifndef IN_LANES
# error "IN_LANES: 0 or 1, set by src/primitives/primitive-program.ts"
#endif
/* Operands of the keys' own width, in which integers wrap, are scanned in lanes. */
#define SCAN_IN_LANES (IN_LANES && !FLOAT_OPERANDS)
#if SCAN_IN_LANES
# include "combine_lanes.clh"
# if GROUP_SIZE != 1
#  error "IN_LANES: groups of one work-item"
# endif
# define NONE ((key_t)IDENTITY)

/* All keys from `at` to `stop` combined. */
INLINE key_t combine_part(__global const key_t *in, ulong at, ulong stop, codec_t codec)
{
    lanes_t sums = (lanes_t)(NONE);
    for (; at + LANES <= stop; at += LANES)
        sums = COMBINE(sums, operand_lanes(load_lanes(in + at), codec));
    key_t own[LANES];
    vstore16(sums, 0, own);
    key_t sum = NONE;
# pragma unroll
    for (uint i = 0; i < LANES; i++)
        sum = (key_t)COMBINE(sum, own[i]);
    for (; at < stop; at++)
        sum = (key_t)COMBINE(sum, (key_t)operand_of(in[at], codec));
    return sum;
}

/* Masks of lanes that keep their value in a step of scan_lanes, as -1. */
# define ONE ((key_t) - 1)
# define QUARTERS_FIRST ((lanes_t)(ONE, 0, 0, 0, ONE, 0, 0, 0, ONE, 0, 0, 0, ONE, 0, 0, 0))
# define QUARTERS_HALF ((lanes_t)(ONE, ONE, 0, 0, ONE, ONE, 0, 0, ONE, ONE, 0, 0, ONE, ONE, 0, 0))
# define QUARTERS_EVEN ((lanes_t)(ONE, ONE, ONE, ONE, 0, 0, 0, 0, ONE, ONE, ONE, ONE, 0, 0, 0, 0))
# define HALF ((lanes_t)(ONE, ONE, ONE, ONE, ONE, ONE, ONE, ONE, 0, 0, 0, 0, 0, 0, 0, 0))

/* Each lane combined with all lanes before it: within quarters, then across them. Vector units move lanes quickly
 * within quarters, but some take twenty times as long to shift a whole vector. */
INLINE lanes_t scan_lanes(lanes_t own)
{
    const lanes_t none = (lanes_t)(NONE);
    own = COMBINE(own, QUARTERS_FIRST ? none : own.s00124456889accde);
    own = COMBINE(own, QUARTERS_HALF ? none : own.s010145458989cdcd);
    own = COMBINE(own, QUARTERS_EVEN ? none : own.s33333333bbbbbbbb);
    return COMBINE(own, HALF ? none : own.s7777777777777777);
}

/* scan_parts for the keys from `at` to `stop`, with a constant `inclusive`.
 * @param carry  combined operands before these keys */
INLINE void scan_part(__global const key_t *in, __global key_t *out, ulong at, ulong stop, key_t carry, codec_t codec,
                      bool inclusive)
{
    /* Every lane holds the carry and updates it in one step; the rest of the work does not depend on it. */
    lanes_t before = (lanes_t)(carry);
    for (; at + LANES <= stop; at += LANES) {
        const lanes_t own = scan_lanes(operand_lanes(load_lanes(in + at), codec));
        const lanes_t sums = COMBINE(before, own);
        const lanes_t given = inclusive ? sums : (lanes_t)(before.sf, sums.s01234567, sums.s89ab, sums.scd, sums.se);
        store_lanes(key_lanes(given, codec), out + at);
        before = COMBINE(before, own.sffffffffffffffff);
    }
    carry = before.s0;
    for (; at < stop; at++) {
        const key_t sum = (key_t)COMBINE(carry, (key_t)operand_of(in[at], codec));
        out[at] = key_of(inclusive ? sum : carry, codec);
        carry = sum;
    }
}
#endif

#if !ONCE
/* @post totals[part] = all keys of the part combined; a part is `tiles` tiles long */
PRIMITIVE_KERNEL void scan_part_totals(__global const key_t *in, __global operand_t *totals, ulong n, uint tiles,
                                       codec_t codec)
{
    const ulong first = (ulong)get_group_id(0) * tiles * TILE_KEYS;
#if SCAN_IN_LANES
    totals[get_group_id(0)] = combine_part(in, first, min(first + (ulong)tiles * TILE_KEYS, n), codec);
#else
    __local operand_t scratch[TILE_SCAN_OPERANDS];
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
#endif
}

/* @pre  totals from scan_part_totals, for parts of as many tiles; `in` may be `out` */
PRIMITIVE_KERNEL void scan_parts(__global const key_t *in, __global key_t *out, __global const operand_t *totals, ulong n,
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
#if SCAN_IN_LANES
    const ulong stop = min(first + (ulong)tiles * TILE_KEYS, n);
    if (inclusive)
        scan_part(in, out, first, stop, (key_t)carry, codec, true);
    else
        scan_part(in, out, first, stop, (key_t)carry, codec, false);
#else
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
#endif
}

#else
#include "look_back.clh"

#if HELD
/* Operands of the tile in local memory: each work-item stores those of its own rounds, so no barrier is needed. */
typedef __local keys_t *held_t;
# define HELD_VECTOR(held, round) (held)[(round) * GROUP_SIZE + get_local_id(0)]

INLINE void hold_tile(operand_t operands[ROUNDS][VECTOR_KEYS], held_t held)
{
# pragma unroll
    for (uint round = 0; round < ROUNDS; round++)
        HELD_VECTOR(held, round) = (keys_t)(PACK_KEYS(operands[round], 0));
}

/* Scans the tile, so that only the operands before the tile are missing. */
INLINE void scan_held(held_t held, const operand_t before[ROUNDS], uint inclusive)
{
# pragma unroll
    for (uint round = 0; round < ROUNDS; round++) {
        operand_t sum = before[round], sums[VECTOR_KEYS];
        UNPACK_KEYS(sums, HELD_VECTOR(held, round), 0);
# pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++) {
            const operand_t next = COMBINE(sum, sums[i]);
            sums[i] = inclusive ? next : sum;
            sum = next;
        }
        HELD_VECTOR(held, round) = (keys_t)(PACK_KEYS(sums, 0));
    }
}

/* @param carry  combined operands before the tile */
INLINE void store_held(__global key_t *out, ulong start, ulong n, codec_t codec, held_t held, operand_t carry)
{
# pragma unroll
    for (uint round = 0; round < ROUNDS; round++) {
        operand_t sums[VECTOR_KEYS];
        key_t keys[VECTOR_KEYS];
        UNPACK_KEYS(sums, HELD_VECTOR(held, round), 0);
# pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++)
            keys[i] = key_of(COMBINE(carry, sums[i]), codec);
        store_vector(out, start + (round * GROUP_SIZE + get_local_id(0)) * VECTOR_KEYS, n, keys);
    }
}
#endif

/* @param control  tickets, see take_tile; after a margin the states of all tiles
 * @param launch   a number that no launch has used since the states were cleared
 * @pre  `in` is not `out`: a group may read a tile that another one has already written */
PRIMITIVE_KERNEL void scan_once(__global const key_t *restrict in, __global key_t *restrict out, __global uint *control,
                                ulong n, uint launch, uint inclusive, codec_t codec)
{
    __local operand_t scratch[TILE_SCAN_OPERANDS];
    __local operand_t predecessors[PREDECESSORS];
    __local uint heads[PREDECESSORS], shared;
    __global uint *states = control + CONTROL_MARGIN;
    const uint tile = take_tile(control, &shared);
    const ulong start = (ulong)tile * TILE_KEYS;

    operand_t operands[ROUNDS][VECTOR_KEYS], own[ROUNDS], before[ROUNDS];
    load_tile(in, start, n, codec, operands);
    combine_rounds(operands, own);
#if HELD
    __local keys_t held[ROUNDS * GROUP_SIZE];
    hold_tile(operands, held);
#endif
    const operand_t total = tile_scan(own, before, scratch);
    publish_own(states, tile, launch, total);
#if HELD
    scan_held(held, before, inclusive);
#endif
    LOOK_BACK_FROM(carry, total, states, tile, launch, predecessors, heads,
                   tile_total(in, (ulong)missing * TILE_KEYS, n, codec, scratch))
#if HELD
    store_held(out, start, n, codec, held, carry);
#else
    store_tile(out, start, n, codec, operands, before, carry, inclusive);
#endif
}
#endif
