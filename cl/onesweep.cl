/* Radix sort with one kernel per digit: each key is read once and written once per pass.
 *
 *   onesweep_histogram   counts all digits of all passes at once and clears the look-back state
 *   onesweep_pass        ranks one tile, obtains the preceding counts from its predecessors, and scatters
 *
 * A tile publishes its counts as soon as they are ready and, once it knows the counts of all earlier tiles, the
 * sum. A later tile adds up published counts backwards until it finds a sum (decoupled look-back). The sum before
 * the first tile, where the digits begin, comes from the group that starts first, which does nothing else.
 * Tiles are numbered in the order in which groups start, so that a tile only waits for groups that have started. OpenCL
 * does not guarantee that those make progress meanwhile: a work-item that has waited too long counts the missing tile
 * itself.
 *
 * The histogram also finds out whether the array is in order already. Then the last pass moves it to the output, and
 * the other passes return at once.
 *
 *   GROUP_SIZE, KEYS_PER_ITEM, RANK    see digit_rank.clh
 *   OFFSET_BITS         32: fewer than 2^30 keys; 64: any number, with twice the look-back traffic
 *   HISTOGRAM_SIZE      work-items of a histogram group
 *   HISTOGRAM_COLUMNS   copies of the counters in a group, a power of two: neighbouring work-items use different
 *                       copies, and so different banks, however skewed the keys are
 *   LOOK_BACK, SPIN_LIMIT  see tile_look_back.clh
 *   MUTE                0; or for tests: 1, even tiles publish nothing; 2, odd tiles; 3, no tile
 *   FINDS_ORDER         1: arrays in order are moved at once, see order.clh; 0: they are sorted
 *   PLANNED             1: digits and arrays of each pass were selected on the device, see hybrid_radix.cl
 */
#include "count_rows.clh"
#include "tile_look_back.clh"
#include "hybrid_plan.clh"

#ifndef HISTOGRAM_SIZE
# error "HISTOGRAM_SIZE: work-items of a histogram group, set by src/algorithms/onesweep.ts"
#endif
#ifndef HISTOGRAM_COLUMNS
# error "HISTOGRAM_COLUMNS: copies of the histogram in a group, set by src/algorithms/onesweep.ts"
#endif
#ifndef MUTE
# define MUTE 0
#endif
#define IS_MUTE(ticket) ((MUTE >> ((ticket) & 1) & 1) != 0)

/* Passes over a whole key; a narrow window has fewer. */
#define PASSES DIGITS_OF_CODE

#define DIGITS PASSES
#define DIGIT_COLUMNS HISTOGRAM_COLUMNS
#include "digit_count.clh"

/* Counts the digits of every pass over the window [begin, end) of the codes.
 * @param counts   of digits, [pass][group][bin], for all PASSES: those past the window count in bin 0
 * @param state    look-back state of all passes, `state_vectors` times 16 bytes; cleared
 * @param control  CONTROL_WORDS of it are cleared; with FLAG_ORDER, CONTROL_SEEN receives the kinds of pairs of keys */
__kernel __attribute__((reqd_work_group_size(HISTOGRAM_SIZE, 1, 1))) void onesweep_histogram(
    __global const key_t *restrict keys, __global uint *restrict counts, __global uint4 *restrict state,
    __global uint *restrict control, ulong n, uint begin, uint end, ulong state_vectors, codec_t codec, uint flags)
{
    __local uint bins[DIGIT_COUNTERS];
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    const bool encode = (flags & FLAG_ENCODE) != 0;
    const size_t items = get_global_size(0);

#if FINDS_ORDER
    /* The first keys of the group arrive while it clears its counters. */
    order_t order[1] = {unknown_order(begin, end, (flags & FLAG_ORDER) != 0)};
    const size_t from = (size_t)group * HISTOGRAM_SIZE * VECTOR_KEYS;
    const bool sees = flags & FLAG_ORDER && from + FIRST_KEYS <= n;
    key_t first[FIRST_KEYS];
    if (sees)
        load_first(keys + from, first);
#endif
    for (uint i = item; i < DIGIT_COUNTERS; i += HISTOGRAM_SIZE)
        bins[i] = 0;
    for (size_t i = get_global_id(0); i < state_vectors; i += items)
        state[i] = (uint4)(0);
    if (group == 0 && item < CONTROL_WORDS && item != CONTROL_SEEN)
        control[item] = 0;

    digit_t digits[PASSES];
    uint shift = begin;
#pragma unroll
    for (uint pass = 0; pass < PASSES; pass++) {
        const uint bits = digit_bits(shift, end);
        digits[pass] = counted_digit(shift, bits);
        shift += bits;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#if FINDS_ORDER
    /* All work-items of the group compare the same keys here, and so agree. */
    if (sees)
        order[0].seen = seen_first(order[0], first, codec, encode);
    const bool unordered = order[0].seen == IN_NO_ORDER;
    if (unordered && item == 0 && flags & FLAG_ORDER)
        atomic_or(&control[CONTROL_SEEN], IN_NO_ORDER);
    count_key_range(bins, digits, keys, n, get_global_id(0), items, codec, encode, order);
#else
    count_key_range(bins, digits, keys, n, get_global_id(0), items, codec, encode);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint entry = item; entry < PASSES * BINS; entry += HISTOGRAM_SIZE)
        counts[((entry / BINS) * groups + group) * BINS + entry % BINS] = sum_columns(bins, entry);

#if FINDS_ORDER
    if (!unordered) {
        /* The counters are no longer needed. All work-items that write one of these words write the same. */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0)
            bins[0] = bins[1] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (order[0].seen & SEEN_DESCENT)
            bins[0] = SEEN_DESCENT;
        if (order[0].seen & SEEN_ASCENT)
            bins[1] = SEEN_ASCENT;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0)
            atomic_or(&control[CONTROL_SEEN], bins[0] | bins[1]);
    }
#endif
}

/* Rows of the state: [pass][1 + tiles][bin]. The first row of a pass is that of a tile before the first; its sums
 * are where the digits begin in the whole array. STATE_MARGIN rows precede all of them. */

/* The histogram's groups are divided into PARTS, whose counts the work-items sum in parallel: every tile waits for
 * the sum. */
#define PARTS_IN_GROUP (GROUP_SIZE < FOURS ? 1 : GROUP_SIZE / FOURS)
#define PARTS_IN_MEMORY (TILE_WORDS / (BINS * OFFSET_BITS / 32))
#define PARTS (PARTS_IN_GROUP < PARTS_IN_MEMORY ? PARTS_IN_GROUP : PARTS_IN_MEMORY)
#if OFFSET_BITS == 32
typedef int4 offset4_t;
# define CONVERT_OFFSET4 convert_int4
#else
typedef long4 offset4_t;
# define CONVERT_OFFSET4 convert_long4
#endif

/* Publishes where the keys of each digit begin: after those of all smaller digits.
 * @param counts  of the pass and all histogram groups, [group][bin]
 * @param state   of the tile before the first
 * @pre   called by all work-items of the group, which use `memory` for nothing else */
INLINE void publish_begins(__local uint *memory, __global const uint *counts, uint histogram_groups, __global state_t *state)
{
    const uint item = (uint)get_local_id(0);
    __local offset_t *sums = (__local offset_t *)memory;
    barrier(CLK_LOCAL_MEM_FENCE); /* all have read the ticket, which is in `memory` */
    for (uint entry = item; entry < PARTS * FOURS; entry += GROUP_SIZE) {
        __global const uint4 *fours = (__global const uint4 *)counts + entry % FOURS;
        offset4_t four = (offset4_t)(0);
#pragma unroll 1
        for (uint group = entry / FOURS; group < histogram_groups; group += BATCH * PARTS) {
            uint4 batch[BATCH];
            load_rows(fours, group, PARTS, histogram_groups, batch);
#pragma unroll
            for (uint i = 0; i < BATCH; i++)
                four += CONVERT_OFFSET4(batch[i]);
        }
        vstore4(four, entry, sums);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    offset_t begins[BINS_PER_ITEM], sum = 0;
#pragma unroll
    for (uint j = 0; j < BINS_PER_ITEM; j++) {
        begins[j] = sum;
        if (item < BIN_ITEMS) {
#pragma unroll
            for (uint part = 0; part < PARTS; part++)
                sum += sums[part * BINS + item * BINS_PER_ITEM + j];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if OFFSET_BITS == 32
    const offset_t before = work_group_scan(sum, BIN_ITEMS, memory);
#else
    const offset_t before = work_group_scan_offsets(sum, BIN_ITEMS, sums);
#endif
    if (item < (IS_MUTE(0) ? 0 : BIN_ITEMS))
        for (uint j = 0; j < BINS_PER_ITEM; j++)
            publish_state(&state[item * BINS_PER_ITEM + j], STATE_SUM | (state_t)(before + begins[j]));
}

/* Where the keys of a digit begin, for a work-item that has waited for it too long.
 * @param counts  see publish_begins */
INLINE offset_t begin_of(__global const uint *counts, uint histogram_groups, uint bin)
{
    offset_t sum = 0;
#pragma unroll 1
    for (uint group = 0; group < histogram_groups; group++)
#pragma unroll 1
        for (uint smaller = 0; smaller < bin; smaller++)
            sum += counts[group * BINS + smaller];
    return sum;
}

/* Keys of a full tile with one digit, for a work-item that has waited for the tile too long.
 * @param keys  of the tile */
INLINE offset_t count_in_tile(__global const key_t *keys, digit_t digit, uint bin, codec_t codec, uint flags)
{
    offset_t sum = 0;
#pragma unroll 1
    for (uint i = 0; i < TILE; i++) {
        const code_t code = code_of(keys[i], codec, flags);
        sum += digit_offset(code, digit) == bin * 4;
    }
    return sum;
}

/* Publishes the keys up to this tile with the digit `bin`, and sets where those of the tile go.
 * @param before   keys of earlier tiles with the digit, and all keys with a smaller one
 * @param total    keys of the tile with the digit; smaller: with a smaller one */
INLINE void publish_sum(tile_t tile, __global state_t *state, uint bin, offset_t before, uint total, uint smaller,
                        uint ticket)
{
    if (!IS_MUTE(ticket))
        publish_state(state, STATE_SUM | (state_t)(before + total));
    set_origin(tile, bin, before - smaller);
}

#if PLANNED
/* Sorts by the planned digit of this pass, if there is one, stably.
 * @param counts       of all digits and histogram groups, [digit][group][bin]
 * @param state        of all passes, [pass][1 + tiles][bin]; that of this pass is zero
 * @param first_flags  for the first pass that moves keys; last_flags for the last one */
TILE_KERNEL void onesweep_pass(__global const key_t *input, __global key_t *output, __global key_t *alternate,
# if HAS_VALUES
                               __global const value_t *input_values, __global value_t *output_values,
                               __global value_t *alternate_values,
# endif
                               __global const uint *restrict counts, __global state_t *state, __global uint *control,
                               __global const uint *restrict plan, ulong n, uint pass, uint passes, uint histogram_groups,
                               codec_t codec, uint first_flags, uint last_flags)
#else
/* Sorts by one digit, stably.
 * @param counts  of all passes and histogram groups, [pass][group][bin]
 * @param state   of all passes, [pass][1 + tiles][bin]; that of this pass is zero
 * @param source  of the sort: the input of its first pass, unless that is a copy of the output */
TILE_KERNEL void onesweep_pass(__global const key_t *restrict keys_in, __global key_t *restrict keys_out,
# if HAS_VALUES
                               __global const value_t *restrict values_in, __global value_t *restrict values_out,
                               __global const value_t *source_values,
# endif
                               __global const key_t *source, __global const uint *restrict counts, __global state_t *state,
                               __global uint *control, ulong n, uint pass, uint shift, uint bits, uint histogram_groups,
                               codec_t codec, uint flags)
#endif
{
    TILE_MEMORY(memory);
    const uint item = (uint)get_local_id(0);
#if PLANNED
    const uint first_pass = plan[PLAN_FIRST], low = plan[PLAN_LOW], planned = plan[PLAN_DIGITS + pass];
    if (pass < first_pass) {
# if FINDS_ORDER
        /* An array in order: a number that no pass reaches. */
        if (pass == passes - 1) {
            const bool reverses = first_pass == FIRST_REVERSES;
            move_keys(input, output, n, reverses);
#  if HAS_VALUES
            if (first_flags & FLAG_POSITIONS)
                move_positions(output_values, n, reverses);
            else
                move_values(input_values, output_values, n, reverses);
#  endif
        }
# endif
        return;
    }
    const uint shift = PLANNED_SHIFT(planned), bits = PLANNED_BITS(planned), counted = PLANNED_NUMBER(planned);
    const uint moves_left = passes - 1 - pass + (low > 0);
    const bool to_output = moves_left % 2 == 0;
    const uint flags = (pass == first_pass ? first_flags : 0) | (moves_left == 0 ? last_flags : 0);
    __global const key_t *keys_in = pass == first_pass ? input : to_output ? alternate : output;
    __global key_t *keys_out = to_output ? output : alternate;
# if HAS_VALUES
    __global const value_t *values_in = pass == first_pass ? input_values : to_output ? alternate_values : output_values;
    __global value_t *values_out = to_output ? output_values : alternate_values;
# endif
#else
    const uint counted = pass, low = 0;
#endif
    digit_t digit = digit_at(shift, bits, 2);
    counts += (size_t)counted * histogram_groups * BINS;
    state += ((size_t)pass * get_num_groups(0) + STATE_MARGIN) * BINS;

#if FINDS_ORDER && !PLANNED
    /* Every tile waits for one word, which holds whether to sort: the first pass reads what the histogram has seen. */
    const bool first = pass == 0 && flags & FLAG_ORDER;
    const uint word = first ? CONTROL_SEEN : CONTROL_STOP;
#endif
    if (item == 0) {
        memory[ZERO_AT / 4] = memory[CROWDED_AT / 4] = 0;
        const uint ticket = atomic_inc(&control[CONTROL_TICKETS + pass]);
#if FINDS_ORDER && !PLANNED
        const bool stops = control_word(control, word) != (first ? IN_NO_ORDER : 0);
        if (pass == 1 && get_group_id(0) == 0)
            control[CONTROL_SEEN] = 0; /* for the next sort */
#else
        const bool stops = gave_up(control);
#endif
        memory[ORIGINS_AT / 4] = stops ? NO_TICKET : ticket;
    }
    clear_counters(memory);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint ticket = memory[ORIGINS_AT / 4];
    if (ticket == NO_TICKET) {
#if FINDS_ORDER && !PLANNED
        const uint stop = control_word(control, word) | (first ? STOP_IN_ORDER : 0);
        if (first && item == 0)
            atomic_or(&control[CONTROL_STOP], stop);
        if (stop & STOP_IN_ORDER && flags & FLAG_MOVE) {
            move_keys(source, keys_out, n, IS_REVERSED(stop));
# if HAS_VALUES
            if (flags & FLAG_NUMBER)
                move_positions(values_out, n, IS_REVERSED(stop));
            else
                move_values(source_values, values_out, n, IS_REVERSED(stop));
# endif
        }
#endif
        return;
    }
    if (ticket == 0) {
        publish_begins(memory, counts, histogram_groups, state);
        return;
    }
    const ulong start = (ulong)(ticket - 1) * TILE;
    tile_t tile = tile_share(memory, item, (uint)min(n - start, (ulong)TILE));

    code_t codes[KEYS_PER_ITEM];
    uint ranks[RANK_WORDS], places[PLACE_WORDS];
    load_codes(tile, keys_in + start, codec, flags, codes);
    count_digits(tile, digit, codes, ranks);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint totals[BINS_PER_ITEM], smaller[BINS_PER_ITEM];
    sum_rows(tile, totals);
    state += (size_t)ticket * BINS + item * BINS_PER_ITEM;
    if (item < BIN_ITEMS && !IS_MUTE(ticket))
        for (uint j = 0; j < BINS_PER_ITEM; j++)
            publish_state(&state[j], STATE_COUNT | totals[j]);
    scan_bins(tile, totals, smaller);

    digit = next_phase(tile, digit);
#if RANK == RANK_LANES
    const bool copied = is_copied(tile);
    if (!copied)
#endif
        exchange_codes(tile, digit, codes, ranks, places);
#if HAS_VALUES
    value_t values[KEYS_PER_ITEM];
    load_values(tile, values_in + start, start, flags, values);
#endif

    bool late = false;
    if (item < BIN_ITEMS) {
        for (uint j = 0; j < BINS_PER_ITEM; j++) {
            __global state_t *at = &state[j];
            offset_t before = 0;
            if (look_back(&at, control, &before))
                publish_sum(tile, &state[j], item * BINS_PER_ITEM + j, before, totals[j], smaller[j], ticket);
            else
                late = true;
        }
    }
    if (late) {
#pragma unroll 1
        for (uint j = 0; j < BINS_PER_ITEM; j++) {
            const uint bin = item * BINS_PER_ITEM + j;
            __global state_t *at = &state[j];
            offset_t before = 0;
            while (!look_back(&at, control, &before)) {
                const uint missing = ticket - 1 - (uint)((&state[j] - at) / BINS);
                if (missing == 0) {
                    before += begin_of(counts, histogram_groups, bin);
                    break;
                }
                before += count_in_tile(keys_in + (ulong)(missing - 1) * TILE, digit, bin, codec, flags);
                at -= BINS;
            }
            publish_sum(tile, &state[j], bin, before, totals[j], smaller[j], ticket);
        }
#if HAS_VALUES
        /* Loaded again, not kept: to keep the values across this loop costs all tiles a tenth of their speed, although
         * hardly any is ever late. The compiler must not know that they are the same. */
        tile.first = opaque(tile.first, memory + ZERO_AT / 4);
        load_values(tile, values_in + start, start, flags, values);
#endif
    }
#if HAS_VALUES && !VALUES_AFTER
    exchange_values(tile, values, places);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    digit = next_phase(tile, digit);
#if RANK == RANK_LANES
    if (copied) {
        copy_tile(tile, digit, codes, keys_out, codec, flags);
        return;
    }
#endif
#if HAS_VALUES
    uint digits[DIGIT_WORDS];
#endif
    const bool ascends = store_tile(tile, digit, keys_out,
#if HAS_VALUES
                                    values_out, digits,
#endif
                                    codec, flags, bits_of_codes(low, shift + bits));
#if RANK == RANK_LANES
    if (!ascends)
        give_up(control, STATUS_DISORDER);
#endif
#if HAS_VALUES && VALUES_AFTER
    store_values(tile, values, places, digits, values_out);
#endif
}
