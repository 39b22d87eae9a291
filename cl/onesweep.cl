/* Radix sort with one kernel per digit: each key is read once and written once a pass.
 *
 *   onesweep_histogram   counts all digits of all passes at once and clears the look-back state
 *   onesweep_pass        ranks one tile, learns from its predecessors what lies before it, scatters
 *
 * A tile publishes its counts as soon as it has them and, once it knows what the tiles before it hold, the sum:
 * a later tile adds up published counts backwards until it meets a sum (decoupled look-back). That needs tiles to
 * make progress side by side, which OpenCL does not promise: spins are bounded, and a group that gives up sets
 * the status word. Tiles are numbered in the order in which groups start, so that a tile only ever waits for
 * groups that run already.
 *
 *   GROUP_SIZE, KEYS_PER_ITEM, RANK    see digit_rank.clh
 *   OFFSET_BITS         32: fewer than 2^30 keys; 64: any number, with twice the look-back traffic
 *   HISTOGRAM_SIZE      work-items of a histogram group
 *   HISTOGRAM_COLUMNS   copies of the counters in a group, a power of two: work-items side by side count in
 *                       different copies, hence in different banks, however skewed the keys are
 *   LOOK_BACK           predecessors read at once
 *   SPIN_LIMIT          futile reads before a group gives up
 */
#include "radix_tile.clh"

#ifndef HISTOGRAM_SIZE
# error "HISTOGRAM_SIZE: work-items of a histogram group, set by src/algorithms/onesweep.ts"
#endif
#ifndef HISTOGRAM_COLUMNS
# error "HISTOGRAM_COLUMNS: copies of the histogram in a group, set by src/algorithms/onesweep.ts"
#endif
#ifndef LOOK_BACK
# error "LOOK_BACK: predecessors read at once, set by src/algorithms/onesweep.ts"
#endif
#ifndef SPIN_LIMIT
# error "SPIN_LIMIT: futile reads before a group gives up, set by src/algorithms/onesweep.ts"
#endif

/* Words of the buffer `control`. */
#define CONTROL_STATUS 0
#define CONTROL_TICKETS 1
#define CONTROL_WORDS 16

/* Number of a tile that must be left alone: a pass before gave up, so that the histogram does not fit the keys any
 * more and places might lie outside of the output. */
#define NO_TILE 0xffffffffu

/* Passes over a whole key; a narrow window has fewer. A 64-bit code is cut at its middle. */
#if KEY_BITS == 64
# define PASSES (2 * ((32 + RADIX_BITS - 1) / RADIX_BITS))
#else
# define PASSES ((KEY_BITS + RADIX_BITS - 1) / RADIX_BITS)
#endif

/* State of one bin of one tile: what is known, and the keys that are counted in it. */
#if OFFSET_BITS == 32
typedef uint state_t;
#else
typedef ulong state_t;
#endif
#define STATE_COUNT ((state_t)1 << (OFFSET_BITS - 2)) /* keys of the tile */
#define STATE_SUM ((state_t)2 << (OFFSET_BITS - 2))   /* keys of this tile and all before, and of all smaller digits */
#define STATE_VALUE(state) ((state) & (STATE_COUNT - 1))

/* What a group publishes carries all its meaning in one word, so no other access needs to be ordered with it. */
#if INLINE_PTX
# define LOAD_STATE(word) (*(volatile __global state_t *)(word))
# define STORE_STATE(word, value) (*(volatile __global state_t *)(word) = (value))
#elif OFFSET_BITS == 32
# define LOAD_STATE(word) atomic_or(word, 0)
# define STORE_STATE(word, value) atomic_xchg(word, value)
#else
# pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
# define LOAD_STATE(word) atom_add(word, 0)
# define STORE_STATE(word, value) atom_xchg(word, value)
#endif

INLINE state_t load_state(__global state_t *state)
{
    return LOAD_STATE(state);
}

INLINE void publish_state(__global state_t *state, state_t value)
{
    STORE_STATE(state, value);
}

/* Has a group given up? */
INLINE bool gave_up(__global uint *control)
{
#if INLINE_PTX
    return ((volatile __global uint *)control)[CONTROL_STATUS] != 0;
#else
    return atomic_or(&control[CONTROL_STATUS], 0) != 0;
#endif
}

/* Sixteen bytes of keys, and how many keys those are. */
#if KEY_BITS == 64
typedef ulong2 keys_t;
#else
typedef uint4 keys_t;
#endif
#define VECTOR_KEYS (128 / KEY_BITS)

#define COLUMN_STRIDE_LOG2 (HISTOGRAM_COLUMNS == 32 ? 7 : HISTOGRAM_COLUMNS == 16 ? 6 : HISTOGRAM_COLUMNS == 8 ? 5 : \
                            HISTOGRAM_COLUMNS == 4 ? 4 : HISTOGRAM_COLUMNS == 2 ? 3 : 2)

INLINE void count_key(__local uint *bins, uint column, const digit_t *digits, key_t key, codec_t codec, uint flags)
{
    const code_t code = flags & FLAG_ENCODE ? encode_key(key, codec) : (code_t)key;
#pragma unroll
    for (uint pass = 0; pass < PASSES; pass++)
        local_add(bins, column + digit_offset(code, digits[pass]) + pass * (BINS * HISTOGRAM_COLUMNS * 4), 1);
}

INLINE void count_keys(__local uint *bins, uint column, const digit_t *digits, keys_t keys, codec_t codec,
                              uint flags)
{
#if KEY_BITS == 64
    count_key(bins, column, digits, keys.x, codec, flags);
    count_key(bins, column, digits, keys.y, codec, flags);
#else
    const uint words[4] = { keys.x, keys.y, keys.z, keys.w };
# pragma unroll
    for (uint i = 0; i < 4; i++)
# pragma unroll
        for (uint shift = 0; shift < 32; shift += KEY_BITS)
            count_key(bins, column, digits, (key_t)(words[i] >> shift), codec, flags);
#endif
}

/* Count the digits of every pass over the window [begin, end) of the codes.
 * @param counts        of digits, [pass][group][bin], for all PASSES: those past the window count in bin 0
 * @param state         look-back state of all passes, `state_vectors` times 16 bytes, is cleared
 * @param control       CONTROL_WORDS, cleared
 */
__kernel __attribute__((reqd_work_group_size(HISTOGRAM_SIZE, 1, 1))) void onesweep_histogram(
    __global const key_t *restrict keys, __global uint *restrict counts, __global uint4 *restrict state,
    __global uint *restrict control, ulong n, uint begin, uint end, ulong state_vectors, codec_t codec, uint flags)
{
    __local uint bins[PASSES * BINS * HISTOGRAM_COLUMNS] __attribute__((aligned(1024)));
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const size_t items = get_global_size(0);

    for (uint i = item; i < PASSES * BINS * HISTOGRAM_COLUMNS; i += HISTOGRAM_SIZE)
        bins[i] = 0;
    for (size_t i = get_global_id(0); i < state_vectors; i += items)
        state[i] = (uint4)(0);
    if (group == 0 && item < CONTROL_WORDS)
        control[item] = 0;

    digit_t digits[PASSES];
    uint shift = begin;
#pragma unroll
    for (uint pass = 0; pass < PASSES; pass++) {
        const uint bits = digit_bits(shift, end);
        digits[pass] = digit_at(shift, bits, COLUMN_STRIDE_LOG2);
        shift += bits;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint column = LOCAL_BASE(bins) + (item & (HISTOGRAM_COLUMNS - 1)) * 4;
    __global const keys_t *vectors = (__global const keys_t *)keys;
    const size_t whole = n / VECTOR_KEYS;
    size_t i = get_global_id(0);
    for (; i + 3 * items < whole; i += 4 * items) {
        const keys_t a = vectors[i], b = vectors[i + items], c = vectors[i + 2 * items], d = vectors[i + 3 * items];
        count_keys(bins, column, digits, a, codec, flags);
        count_keys(bins, column, digits, b, codec, flags);
        count_keys(bins, column, digits, c, codec, flags);
        count_keys(bins, column, digits, d, codec, flags);
    }
    for (; i < whole; i += items)
        count_keys(bins, column, digits, vectors[i], codec, flags);
    if (group == 0)
        for (size_t rest = whole * VECTOR_KEYS + item; rest < n; rest += HISTOGRAM_SIZE)
            count_key(bins, column, digits, keys[rest], codec, flags);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint entry = item; entry < PASSES * BINS; entry += HISTOGRAM_SIZE) {
        uint sum = 0;
        /* Every work-item starts in another column: other banks. */
#pragma unroll
        for (uint i = 0; i < HISTOGRAM_COLUMNS; i++)
            sum += bins[entry * HISTOGRAM_COLUMNS + ((i + item) & (HISTOGRAM_COLUMNS - 1))];
        counts[((entry / BINS) * groups + group) * BINS + entry % BINS] = sum;
    }
}

/* Keys of the tiles before this one with the digit `bin`, and keys of the whole array with a smaller digit.
 * @param state  of the pass
 */
INLINE offset_t look_back(__global state_t *state, uint tile, uint bin, __global uint *control)
{
    offset_t before = 0;
    uint next = tile;
    uint spins = 0;
    while (spins < SPIN_LIMIT) {
        state_t seen[LOOK_BACK];
#pragma unroll
        for (uint i = 0; i < LOOK_BACK; i++)
            seen[i] = next > i ? load_state(state + (size_t)(next - 1 - i) * BINS + bin) : 0;
        uint used = 0;
#pragma unroll
        for (uint i = 0; i < LOOK_BACK; i++) {
            if (used == i && seen[i] != 0) {
                before += STATE_VALUE(seen[i]);
                if (seen[i] & STATE_SUM)
                    return before;
                used++;
            }
        }
        next -= used;
        if (used == 0) {
            spins++;
            if (spins % 1024 == 0 && gave_up(control))
                break;
        }
    }
    /* Never reached where groups make progress. Sums that are too small still lead to places inside the output. */
    atomic_or(&control[CONTROL_STATUS], 1);
    return before;
}

/* The first tile has no predecessor: its keys go behind all smaller digits of the whole array. That is where the
 * histogram comes in, and the only place: later tiles learn it from this one.
 * @pre   called by all work-items of the group
 * @post  origin_of_bin, for the bins that this work-item looks after
 */
INLINE void set_first_origins(tile_t tile, __global const uint *counts, uint histogram_groups)
{
    offset_t sums[BINS_PER_ITEM], sum = 0;
#pragma unroll
    for (uint j = 0; j < BINS_PER_ITEM; j++) {
        sums[j] = 0;
        if (tile.item < BIN_ITEMS) {
#pragma unroll 16
            for (uint group = 0; group < histogram_groups; group++)
                sums[j] += counts[group * BINS + tile.item * BINS_PER_ITEM + j];
        }
        sum += sums[j];
    }
#if OFFSET_BITS == 32
    sum = work_group_scan(sum, BIN_ITEMS, tile.memory + SCAN_AT / 4);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = work_group_scan_offsets(sum, BIN_ITEMS, (__local offset_t *)(tile.memory + ORIGINS_AT / 4));
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (tile.item < BIN_ITEMS) {
#pragma unroll
        for (uint j = 0; j < BINS_PER_ITEM; j++) {
            set_origin(tile, tile.item * BINS_PER_ITEM + j, sum);
            sum += sums[j];
        }
    }
}

/* Sort by one digit, stably.
 * @param counts  of this pass and all histogram groups, [group][bin]
 * @param state   of this pass, [tile][bin], zero
 * @param ticket  zero
 */
TILE_KERNEL void onesweep_pass(__global const key_t *restrict keys_in, __global key_t *restrict keys_out,
#if HAS_VALUES
                               __global const value_t *restrict values_in, __global value_t *restrict values_out,
#endif
                               __global const uint *restrict counts, __global state_t *state, __global uint *control,
                               ulong n, uint pass, uint shift, uint bits, uint histogram_groups, codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    const uint item = (uint)get_local_id(0);
    digit_t digit = digit_at(shift, bits, 2);
    counts += (size_t)pass * histogram_groups * BINS;
    state += (size_t)pass * get_num_groups(0) * BINS;

    if (item == 0) {
        memory[ZERO_AT / 4] = 0;
        const uint ticket = atomic_inc(&control[CONTROL_TICKETS + pass]);
        memory[ORIGINS_AT / 4] = gave_up(control) ? NO_TILE : ticket;
    }
    clear_counters(memory);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint number = memory[ORIGINS_AT / 4];
    if (number == NO_TILE)
        return;
    const ulong start = (ulong)number * TILE;
    tile_t tile = tile_share(memory, item, (uint)min(n - start, (ulong)TILE));

    code_t codes[KEYS_PER_ITEM];
    uint ranks[RANK_WORDS], places[HAS_VALUES ? KEYS_PER_ITEM : 1];
    load_codes(tile, keys_in + start, codec, flags, codes);
    count_digits(tile, digit, codes, ranks);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint totals[BINS_PER_ITEM], smaller[BINS_PER_ITEM];
    sum_rows(tile, totals);
    if (item < BIN_ITEMS && number != 0)
        for (uint j = 0; j < BINS_PER_ITEM; j++)
            publish_state(&state[(size_t)number * BINS + item * BINS_PER_ITEM + j], STATE_COUNT | totals[j]);
    scan_bins(tile, totals, smaller);

    digit = next_phase(tile, digit);
    exchange_codes(tile, digit, codes, ranks, places);
#if HAS_VALUES
    value_t values[KEYS_PER_ITEM];
    load_values(tile, values_in + start, start, flags, values);
#endif

    if (number == 0) {
        set_first_origins(tile, counts, histogram_groups);
        if (item < BIN_ITEMS) {
            for (uint j = 0; j < BINS_PER_ITEM; j++) {
                const uint bin = item * BINS_PER_ITEM + j;
                const offset_t before = origin_of_bin(tile, bin);
                publish_state(&state[bin], STATE_SUM | (state_t)(before + totals[j]));
                set_origin(tile, bin, before - smaller[j]);
            }
        }
    } else if (item < BIN_ITEMS) {
        for (uint j = 0; j < BINS_PER_ITEM; j++) {
            const uint bin = item * BINS_PER_ITEM + j;
            const offset_t before = look_back(state, number, bin, control);
            publish_state(&state[(size_t)number * BINS + bin], STATE_SUM | (state_t)(before + totals[j]));
            set_origin(tile, bin, before - smaller[j]);
        }
    }
#if HAS_VALUES
    exchange_values(tile, values, places);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    digit = next_phase(tile, digit);
    store_tile(tile, digit, keys_out,
#if HAS_VALUES
               values_out,
#endif
               codec, flags);
}
