/* Compaction: stores the selected elements contiguously in input order, and optionally the others after them.
 *
 *   compact_once         selected elements, every key read once: groups publish their counts (look_back.clh)
 *   compact_part_counts  otherwise two launches: each group counts the selected elements of its part,
 *   compact_parts        and then stores them at their positions
 *
 *   ONCE    1: compact_once; 0: the other two
 *   CHOOSE  0: mask bytes that are not 0; 1: keys whose codes are in a range; 2: of sorted keys, the first of each run
 *           of equal ones
 *   GIVE    1: the keys; 2: also their positions; 3: their positions, and the keys of another array at these positions
 *   HELD    1: keys stay in local memory during look-back, which takes fewer registers; 0: in registers
 *   IN_LANES  1: a group is one work-item with its own vector unit, which selects from 16 keys at once
 */
#include "key_codec.clh"
#include "vector_keys.clh"
#include "primitive.clh"

typedef uint operand_t;
#define COMBINE(a, b) ((a) + (b))
#define IDENTITY 0u
#define SMALL_OPERANDS (GROUP_SIZE * VECTOR_KEYS < 65536)
#include "tile_scan.clh"
#include "look_back.clh"

#if !defined(ONCE) || !defined(CHOOSE) || !defined(GIVE)
# error "ONCE, CHOOSE and GIVE: set by src/primitives/compact.ts"
#endif

#ifndef IN_LANES
# error "IN_LANES: 0 or 1, set by src/primitives/primitive-program.ts"
#endif
#if IN_LANES
# include "lanes.clh"
#endif

#define TILE_KEYS (ROUNDS * GROUP_SIZE * VECTOR_KEYS)
#define HOLDS_KEYS (HELD && GIVE == 1)
#if HELD && GROUP_SIZE == 1
# error "HELD: a work-item alone has nobody to wait for"
#endif

/* Selection criterion. */
#define SELECTION_PARAMETERS \
    __global const key_t *in, __global const uchar *mask, ulong n, ulong low, ulong high, uint invert, codec_t codec
#define SELECTION in, mask, n, low, high, invert, codec

/* Destination of selected elements. GIVE 2: `source` has the keys that are compared. GIVE 3: element i writes key
 * `carried[i]` of it. */
#define PLACE_PARAMETERS \
    __global key_t *out, __global const key_t *source, __global const uint *carried, __global uint *places
#define PLACES out, source, carried, places

INLINE bool is_chosen(key_t key, code_t low, code_t high, codec_t codec)
{
    const code_t code = encode_key(key, codec);
    return code >= low && code <= high;
}

#if CHOOSE == 2 && HAS_ROWS
/* The key of the preceding lane. */
INLINE key_t row_before_key(key_t key)
{
# if KEY_BITS == 64
    return (ulong)row_before((uint)(key >> 32), 1) << 32 | row_before((uint)key, 1);
# else
    return (key_t)row_before(key, 1);
# endif
}
#endif

/* Loads the VECTOR_KEYS elements from `at` on, 0 after the last one.
 * @return one bit per existing element */
INLINE uint load_vector(__global const key_t *in, ulong at, ulong n, key_t keys[VECTOR_KEYS])
{
    if (at + VECTOR_KEYS <= n) {
        load_keys(in + at, keys);
        return (1u << VECTOR_KEYS) - 1;
    }
#pragma unroll
    for (uint i = 0; i < VECTOR_KEYS; i++)
        keys[i] = at + i < n ? in[at + i] : (key_t)0;
    return at < n ? (1u << (uint)(n - at)) - 1 : 0;
}

/* Selects from VECTOR_KEYS elements.
 * @param at    index of the first element
 * @param some  one bit per existing element
 * @pre   called by whole rows, whose vectors are consecutive
 * @post  *own = number of selected elements
 * @return one bit per selected element
 */
INLINE uint choose_of(SELECTION_PARAMETERS, ulong at, const key_t keys[VECTOR_KEYS], uint some, uint *own)
{
    uint bits = 0;
#if CHOOSE == 0
# pragma unroll
    for (uint i = 0; i < VECTOR_KEYS; i++)
        bits |= (uint)((some >> i & 1) && mask[at + i] != 0) << i;
#elif CHOOSE == 1
    const code_t first = (code_t)low, last = (code_t)high;
# pragma unroll
    for (uint i = 0; i < VECTOR_KEYS; i++)
        bits |= (uint)is_chosen(keys[i], first, last, codec) << i;
    bits = (bits ^ (invert != 0 ? ~0u : 0)) & some;
#else
# if HAS_ROWS
    /* The preceding lane has it, except for the first lane of a row. */
    key_t last = row_before_key(keys[VECTOR_KEYS - 1]);
    if (LANE == 0 && at > 0 && some)
        last = in[at - 1];
# else
    key_t last = at > 0 && some ? in[at - 1] : (key_t)0;
# endif
    bits = at == 0 || keys[0] != last;
# pragma unroll
    for (uint i = 1; i < VECTOR_KEYS; i++)
        bits |= (uint)(keys[i] != keys[i - 1]) << i;
    bits &= some;
#endif
#if INLINE_PTX
    *own = popcount(bits);
#else
    uint count = 0; /* OpenCL C 1.1 has no popcount */
# pragma unroll
    for (uint i = 0; i < VECTOR_KEYS; i++)
        count += bits >> i & 1;
    *own = count;
#endif
    return bits;
}

/* The same for the elements from `at` on. @post keys = the elements */
INLINE uint choose_vector(SELECTION_PARAMETERS, ulong at, key_t keys[VECTOR_KEYS], uint *own)
{
    const uint some = load_vector(in, at, n, keys);
    return choose_of(SELECTION, at, keys, some, own);
}

/* The same for the tile that starts at `start`, by rounds. */
INLINE void choose(SELECTION_PARAMETERS, ulong start, key_t keys[ROUNDS][VECTOR_KEYS], uint chosen[ROUNDS], uint own[ROUNDS])
{
    const uint item = (uint)get_local_id(0);
    if (start + TILE_KEYS <= n) {
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++) /* all loads are in flight before the first wait */
            load_keys(in + start + (round * GROUP_SIZE + item) * VECTOR_KEYS, keys[round]);
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++) {
            const ulong at = start + (round * GROUP_SIZE + item) * VECTOR_KEYS;
            chosen[round] = choose_of(SELECTION, at, keys[round], (1u << VECTOR_KEYS) - 1, &own[round]);
        }
    } else {
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++) {
            const ulong at = start + (ulong)(round * GROUP_SIZE + item) * VECTOR_KEYS;
            chosen[round] = choose_vector(SELECTION, at, keys[round], &own[round]);
        }
    }
}

INLINE uint count_vector(SELECTION_PARAMETERS, ulong at)
{
    key_t keys[VECTOR_KEYS];
    uint count;
    choose_vector(SELECTION, at, keys, &count);
    return count;
}

/* Number of selected elements of a tile, for every work-item. Rarely needed, so it saves registers rather than
 * time. */
INLINE uint count_tile(SELECTION_PARAMETERS, ulong start, __local uint *scratch)
{
    const uint item = (uint)get_local_id(0);
    uint count = 0;
#pragma unroll 1
    for (uint round = 0; round < ROUNDS; round++)
        count += count_vector(SELECTION, start + (ulong)(round * GROUP_SIZE + item) * VECTOR_KEYS);
    return combine_group(count, scratch);
}

/* Elements that a group reorders in local memory: keys, or their indices in the tile if the keys are stored
 * elsewhere. */
#if GIVE == 1 && !HOLDS_KEYS
typedef key_t placed_t;
#elif TILE_KEYS <= 65536
typedef ushort placed_t;
#else
typedef uint placed_t;
#endif
#if GIVE == 1 && !HOLDS_KEYS
# define PLACED_OF(keys, round, i) keys[round][i]
#else
# define PLACED_OF(keys, round, i) (placed_t)(((round) * GROUP_SIZE + (uint)get_local_id(0)) * VECTOR_KEYS + (i))
#endif

/* Stores one element at its position.
 * @param from  start of the tile, for indices
 * @param held  the keys of the tile, if they are in local memory */
INLINE void place(PLACE_PARAMETERS, placed_t placed, ulong from, ulong to, __local const key_t *held)
{
#if HOLDS_KEYS
    out[to] = held[placed];
#elif GIVE == 1
    out[to] = placed;
#else
    out[to] = source[GIVE == 3 ? carried[from + placed] : from + placed];
    places[to] = (uint)(from + placed);
#endif
}

#define NO_REST 0xffffffffffffffffUL
#define NOT_HELD ((__local const key_t *)0)

#if GROUP_SIZE > 1
# if HOLDS_KEYS
/* @param held  ROUNDS * GROUP_SIZE vectors; each work-item writes its own, and others read them after a barrier */
INLINE void hold_keys(key_t keys[ROUNDS][VECTOR_KEYS], __local keys_t *held)
{
#  pragma unroll
    for (uint round = 0; round < ROUNDS; round++)
        held[round * GROUP_SIZE + get_local_id(0)] = (keys_t)(PACK_KEYS(keys[round], 0));
}
# endif

/* Orders the selected elements of the tile in local memory, so that neighbouring work-items write neighbouring
 * positions.
 * @param before     selected elements of the tile before each round of the work-item
 * @param with_rest  append the elements that are not selected
 * @param placed     TILE_KEYS entries, unused */
INLINE void order_tile(key_t keys[ROUNDS][VECTOR_KEYS], const uint chosen[ROUNDS], const uint before[ROUNDS], uint total,
                       bool with_rest, __local placed_t *placed)
{
    const uint item = (uint)get_local_id(0);
# pragma unroll
    for (uint round = 0; round < ROUNDS; round++) {
        const uint first = (round * GROUP_SIZE + item) * VECTOR_KEYS;
        uint rank = before[round];
# pragma unroll
        for (uint i = 0; i < VECTOR_KEYS; i++) {
            const uint is_one = chosen[round] >> i & 1;
            if (is_one || with_rest)
                placed[is_one ? rank : total + first + i - rank] = PLACED_OF(keys, round, i);
            rank += is_one;
        }
    }
}

/* Writes the result of order_tile.
 * @param origin  position of the first selected element
 * @param rest    position of the first other element, or NO_REST */
INLINE void write_tile(PLACE_PARAMETERS, ulong start, ulong n, uint total, ulong origin, ulong rest,
                       __local const placed_t *placed, __local const key_t *held)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint all = (uint)min(n - start, (ulong)TILE_KEYS);
    const uint last = rest == NO_REST ? total : all;
    for (uint i = (uint)get_local_id(0); i < last; i += GROUP_SIZE)
        place(PLACES, placed[i], start, i < total ? origin + i : rest + (i - total), held);
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

/* Stores the tile's selected elements, and optionally the others, at their positions: order_tile, then write_tile.
 * A group of one work-item stores them directly.
 * @param placed  TILE_KEYS entries of local memory, or 1 if a group is one work-item */
#if GROUP_SIZE == 1
# define PLACED 1
#else
# define PLACED TILE_KEYS
#endif
INLINE void place_tile(PLACE_PARAMETERS, ulong start, ulong n, key_t keys[ROUNDS][VECTOR_KEYS], const uint chosen[ROUNDS],
                       const uint before[ROUNDS], uint total, ulong origin, ulong rest, __local placed_t *placed,
                       __local const key_t *held)
{
#if GROUP_SIZE == 1
    ulong to = origin, other = rest;
    for (uint round = 0; round < ROUNDS; round++) {
        for (uint i = 0; i < VECTOR_KEYS; i++) {
            if (chosen[round] >> i & 1)
                place(PLACES, PLACED_OF(keys, round, i), start, to++, held);
            else if (rest != NO_REST && start + round * VECTOR_KEYS + i < n)
                place(PLACES, PLACED_OF(keys, round, i), start, other++, held);
        }
    }
#else
    order_tile(keys, chosen, before, total, rest != NO_REST, placed);
    write_tile(PLACES, start, n, total, origin, rest, placed, held);
#endif
}

/* Local memory for the held keys, if HELD. */
#if HOLDS_KEYS
# define HELD_MEMORY __local keys_t held_vectors[ROUNDS * GROUP_SIZE];
# define HOLD_KEYS(keys) hold_keys(keys, held_vectors);
# define HELD_KEYS ((__local const key_t *)held_vectors)
#else
# define HELD_MEMORY
# define HOLD_KEYS(keys)
# define HELD_KEYS NOT_HELD
#endif

#if IN_LANES
# if GROUP_SIZE != 1
#  error "IN_LANES: groups of one work-item"
# endif
/* Selection of the LANES elements from `at` on: -1 for each selected one, otherwise 0. @pre all LANES elements
 * exist */
INLINE int16 choose_lanes(SELECTION_PARAMETERS, ulong at, lanes_t keys)
{
# if CHOOSE == 0
    return convert_int16(vload16(0, mask + at) != (uchar16)(uchar)0);
# elif CHOOSE == 1
    const lanes_t codes = encode_lanes(keys, codec), first = (lanes_t)(key_t)low, last = (lanes_t)(key_t)high;
    return convert_int16((codes >= first) & (codes <= last)) ^ (int16)(invert != 0 ? -1 : 0);
# else
    const lanes_t before =
        at > 0 ? load_lanes(in + at - 1) : (lanes_t)((key_t)~keys.s0, keys.s0123, keys.s456789ab, keys.scde);
    return convert_int16(keys != before);
# endif
}

/* Stores the elements of a part at their positions.
 * @param at, stop  elements of the part
 * @param to, rest  position of the first selected element, and of the first other one or NO_REST
 * @param own       ends of the positions of this part's selected elements, and of its others */
INLINE void place_part(SELECTION_PARAMETERS, PLACE_PARAMETERS, ulong at, ulong stop, ulong to, ulong rest, ulong2 own)
{
    key_t keys[LANES];
    int chosen[LANES];
    for (; at + LANES <= stop; at += LANES) {
        const lanes_t all = load_lanes(in + at);
        vstore16(all, 0, keys);
        vstore16(choose_lanes(SELECTION, at, all), 0, chosen);
# if GIVE == 1
#  define PLACED_AT(i) keys[i]
# else
#  define PLACED_AT(i) i
# endif
        /* Selections are unpredictable, so each element is written without a branch; the next one of this part
         * overwrites a wrong one. Keys at arbitrary positions of another array are only read if selected. */
        if (GIVE != 3 && rest == NO_REST && to + LANES <= own.s0) {
# pragma unroll
            for (uint i = 0; i < LANES; i++) {
                place(PLACES, PLACED_AT(i), at, to, NOT_HELD);
                to -= (long)chosen[i];
            }
        } else if (GIVE != 3 && to + LANES <= own.s0 && rest + LANES <= own.s1) {
# pragma unroll
            for (uint i = 0; i < LANES; i++) {
                place(PLACES, PLACED_AT(i), at, to, NOT_HELD);
                place(PLACES, PLACED_AT(i), at, rest, NOT_HELD);
                to -= (long)chosen[i];
                rest += (ulong)(chosen[i] + 1);
            }
        } else {
            for (uint i = 0; i < LANES; i++) {
                if (chosen[i])
                    place(PLACES, PLACED_AT(i), at, to++, NOT_HELD);
                else if (rest != NO_REST)
                    place(PLACES, PLACED_AT(i), at, rest++, NOT_HELD);
            }
        }
    }
    for (; at < stop; at += VECTOR_KEYS) {
        uint count;
        const uint bits = choose_vector(SELECTION, at, keys, &count);
        for (uint i = 0; i < VECTOR_KEYS && at + i < stop; i++) {
            if (bits >> i & 1)
                place(PLACES, PLACED_AT(i), at, to++, NOT_HELD);
            else if (rest != NO_REST)
                place(PLACES, PLACED_AT(i), at, rest++, NOT_HELD);
        }
    }
}

INLINE uint count_part(SELECTION_PARAMETERS, ulong at, ulong stop)
{
    uint16 counts = (uint16)0;
    for (; at + LANES <= stop; at += LANES)
        counts -= as_uint16(choose_lanes(SELECTION, at, load_lanes(in + at)));
    const uint8 eight = counts.lo + counts.hi;
    const uint4 four = eight.lo + eight.hi;
    uint count = four.s0 + four.s1 + four.s2 + four.s3;
    for (; at < stop; at += VECTOR_KEYS)
        count += count_vector(SELECTION, at);
    return count;
}
#endif

#if !ONCE
/* @post counts[part] = selected elements of the part; a part is `tiles` tiles long */
PRIMITIVE_KERNEL void compact_part_counts(SELECTION_PARAMETERS, __global uint *counts, uint tiles)
{
    __local uint scratch[GROUP_SIZE];
    const ulong first = (ulong)get_group_id(0) * tiles * TILE_KEYS;
#if IN_LANES
    counts[get_group_id(0)] = count_part(SELECTION, first, min(first + (ulong)tiles * TILE_KEYS, n));
#else
    uint count = 0;
    const ulong own = first + (ulong)get_local_id(0) * VECTOR_KEYS;
    for (uint tile = 0; tile < tiles; tile++) {
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            count += count_vector(SELECTION, own + ((ulong)tile * ROUNDS + round) * GROUP_SIZE * VECTOR_KEYS);
    }
    const uint all = combine_group(count, scratch);
    if (get_local_id(0) == 0)
        counts[get_group_id(0)] = all;
#endif
}

/* @pre  counts from compact_part_counts, for parts of as many tiles
 * @post result_words[slot] = number of selected elements */
PRIMITIVE_KERNEL void compact_parts(SELECTION_PARAMETERS, PLACE_PARAMETERS, __global const uint *counts, uint tiles,
                                    uint with_rest, __global uint *result_words, uint slot)
{
    __local uint scratch[TILE_SCAN_OPERANDS];
    __local placed_t placed[PLACED];
    HELD_MEMORY
    const uint part = (uint)get_group_id(0), parts = (uint)get_num_groups(0);
    const ulong first = (ulong)part * tiles * TILE_KEYS;
    uint below = 0, all = 0;
    for (uint i = (uint)get_local_id(0); i < parts; i += GROUP_SIZE) {
        below += i < part ? counts[i] : 0;
        all += counts[i];
    }
    ulong origin = combine_group(below, scratch);
    all = combine_group(all, scratch);
    ulong rest = with_rest ? all + (first - origin) : NO_REST;
    if (part == 0 && get_local_id(0) == 0)
        result_words[slot] = all;
#if IN_LANES
    const ulong stop = min(first + (ulong)tiles * TILE_KEYS, n);
    const ulong2 own = (ulong2)(origin + counts[part], rest + (stop - first - counts[part]));
    place_part(SELECTION, PLACES, first, stop, origin, rest, own);
#else
    for (uint tile = 0; tile < tiles; tile++) {
        const ulong start = first + (ulong)tile * TILE_KEYS;
        if (start >= n)
            return;
        key_t keys[ROUNDS][VECTOR_KEYS];
        uint chosen[ROUNDS], own[ROUNDS], before[ROUNDS];
        choose(SELECTION, start, keys, chosen, own);
        HOLD_KEYS(keys)
        const uint total = tile_scan(own, before, scratch);
        place_tile(PLACES, start, n, keys, chosen, before, total, origin, rest, placed, HELD_KEYS);
        origin += total;
        rest += with_rest ? TILE_KEYS - total : 0;
    }
#endif
}

#else

/* @param control  tickets, see take_tile; after a margin the states of all tiles
 * @param launch   a number that no launch has used since the states were cleared
 * @post result_words[slot] = number of selected elements */
PRIMITIVE_KERNEL void compact_once(SELECTION_PARAMETERS, PLACE_PARAMETERS, __global uint *control, uint launch,
                                   __global uint *result_words, uint slot)
{
    __local uint scratch[TILE_SCAN_OPERANDS], predecessors[PREDECESSORS], heads[PREDECESSORS], shared;
    __local placed_t placed[PLACED];
    HELD_MEMORY
    __global uint *states = control + CONTROL_MARGIN;
    const uint tile = take_tile(control, &shared);
    const ulong start = (ulong)tile * TILE_KEYS;

    key_t keys[ROUNDS][VECTOR_KEYS];
    uint chosen[ROUNDS], own[ROUNDS], before[ROUNDS];
    choose(SELECTION, start, keys, chosen, own);
    HOLD_KEYS(keys)
    const uint total = tile_scan(own, before, scratch);
    publish_own(states, tile, launch, total);
#if HELD
    order_tile(keys, chosen, before, total, false, placed);
#endif
    LOOK_BACK_FROM(origin, total, states, tile, launch, predecessors, heads,
                   count_tile(SELECTION, (ulong)missing * TILE_KEYS, scratch))
    if (tile == (uint)get_num_groups(0) - 1 && get_local_id(0) == 0)
        result_words[slot] = origin + total;
#if HELD
    write_tile(PLACES, start, n, total, origin, NO_REST, placed, HELD_KEYS);
#else
    place_tile(PLACES, start, n, keys, chosen, before, total, origin, NO_REST, placed, HELD_KEYS);
#endif
}
#endif
