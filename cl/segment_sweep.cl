/* Segmented sort of the segments that take many groups: one kernel per digit, which reads and writes each key once.
 * All segments share the launches.
 *
 *   segment_sweep_counts  counts all digits of each segment at once
 *   segment_sweep         ranks one run, which is a tile, obtains the preceding counts from the earlier runs of its
 *                         segment, and moves its keys
 *
 * This is onesweep.cl, segment by segment. Runs are numbered in the order in which groups start, and those of a
 * segment are consecutive. The look-back of a run ends at the first run of its segment, whose positions follow from
 * the segment's counts. The counts are stored where this first run publishes its sum: without a flag other groups
 * ignore them.
 *
 *   GROUP_SIZE, KEYS_PER_ITEM, RANK  see digit_rank.clh
 *   LOOK_BACK, SPIN_LIMIT            see tile_look_back.clh
 *   OFFSET_BITS                      32: segments of fewer than 2^30 keys
 *   COUNT_COLUMNS                    copies of the counters in a group that counts
 */
#include "segments.clh"
#include "tile_look_back.clh"

#if RANK == RANK_LANES
# error "segment_sweep needs a ranking that keeps the order of equal digits for certain"
#endif
#ifndef COUNT_COLUMNS
# error "COUNT_COLUMNS: copies of the counters in a group, set by src/algorithms/segments-in-groups.ts"
#endif
/* Passes over a whole key; a narrow window has fewer. */
#define PASSES DIGITS_OF_CODE
#define DIGITS PASSES
#define DIGIT_COLUMNS COUNT_COLUMNS
#define FINDS_ORDER 0
#include "digit_count.clh"

/* `sweep`, all 0 initially: the words of `state`, the next ticket of each pass, then rows of states,
 * [pass][run][bin]. Tickets have their own cache line, so that groups that take one do not delay those that read
 * `state`. */
#define TICKETS_AT 64
#define TICKETS 64
#define ROWS_AT (TICKETS_AT + TICKETS + STATE_MARGIN * BINS)

#if HAS_VALUES
# define VALUE_PARAMETERS __global const value_t *values_in, __global value_t *values_out,
#else
# define VALUE_PARAMETERS
#endif

/* @return run `run`, numbered segment by segment; with `each`, row by row
 * @param each  keys of every segment; neither owners nor offsets are read then. 0: these apply */
INLINE run_t run_in(uint run, uint each, __global const uint2 *owners, __global const uint *offsets)
{
    if (each == 0)
        return run_of(run, owners, offsets, TILE, 1);
    const uint of = runs_of(each, TILE), row = run / of;
    return run_of_segment(row_segment(row, each), run - row * of, TILE);
}

/* @return the number of runs of all segments, at most `rows`; 0 if the offsets are invalid */
INLINE uint runs_in(uint rows, uint each, __global const uint *state)
{
    if (each > 0)
        return rows;
    return state[STATE_INVALID] ? 0 : min(state[STATE_RUNS], rows);
}

/* Adds a group's counts to those of the segment whose first run is `first`. @post they are 0 again, visible to the
 * group */
INLINE void add_counts(__local uint *bins, __global state_t *sweep, uint first, uint rows)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint entry = (uint)get_local_id(0); entry < PASSES * BINS; entry += GROUP_SIZE) {
        const uint count = sum_columns(bins, entry);
        if (count > 0)
            atomic_add(&sweep[ROWS_AT + ((size_t)(entry / BINS) * rows + first) * BINS + entry % BINS], count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_local_id(0); i < DIGIT_COUNTERS; i += GROUP_SIZE)
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Counts the digits of every pass over the window [begin, end) of the codes, for each segment that is cut.
 * @param rows     capacity in runs
 * @param each     see run_in
 * @param control  its status is cleared */
TILE_KERNEL void segment_sweep_counts(__global const key_t *restrict keys, __global const uint *offsets,
                                      __global const uint *state, __global const uint2 *owners, __global state_t *sweep,
                                      __global uint *control, uint rows, uint each, uint begin, uint end, codec_t codec,
                                      uint flags)
{
    __local uint bins[DIGIT_COUNTERS];
    const uint item = (uint)get_local_id(0), groups = (uint)get_num_groups(0);
    const uint runs = runs_in(rows, each, state);
    if (get_group_id(0) == 0 && item == 0)
        control[CONTROL_STATUS] = 0;
    for (uint i = item; i < DIGIT_COUNTERS; i += GROUP_SIZE)
        bins[i] = 0;
    digit_t digits[PASSES];
    uint shift = begin;
#pragma unroll
    for (uint pass = 0; pass < PASSES; pass++) {
        const uint bits = digit_bits(shift, end);
        digits[pass] = counted_digit(shift, bits);
        shift += bits;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    /* A group takes consecutive runs, most of which belong to one segment. */
    const uint column = LOCAL_BASE(bins) + (item & (COUNT_COLUMNS - 1)) * 4;
    const uint share = (runs + groups - 1) / groups, from = min((uint)get_group_id(0) * share, runs);
    const uint behind = min(from + share, runs);
    for (uint r = from; r < behind; r++) {
        const run_t run = run_in(r, each, owners, offsets);
#pragma unroll 4
        for (uint i = run.start + item; i < run.end; i += GROUP_SIZE)
            count_key(bins, column, digits, keys[i], codec, flags & FLAG_ENCODE);
        if (r + 1 == behind || run.number + 1 == run.of)
            add_counts(bins, sweep, r - run.number, rows);
    }
}

/* Sorts the segments that are cut by one digit, stably.
 * @param rows   capacity in runs, and number of groups
 * @param each   see run_in
 * @param sweep  [pass][run][bin]: of this pass the counts of each segment in the row of its first run, otherwise 0 */
TILE_KERNEL void segment_sweep(__global const key_t *restrict keys_in, __global key_t *restrict keys_out,
                               VALUE_PARAMETERS __global const uint *offsets, __global const uint *cut,
                               __global const uint2 *owners, __global state_t *sweep, __global uint *control, uint rows,
                               uint each, uint pass, uint shift, uint bits, codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    const uint item = (uint)get_local_id(0);
    digit_t digit = digit_at(shift, bits, 2);

    if (item == 0) {
        memory[ZERO_AT / 4] = 0;
        const uint ticket = atomic_inc((__global uint *)&sweep[TICKETS_AT + pass]);
        const uint runs = gave_up(control) ? 0 : runs_in(rows, each, cut);
        memory[ORIGINS_AT / 4] = ticket < runs ? ticket : NO_TICKET;
    }
    clear_counters(memory);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint ticket = memory[ORIGINS_AT / 4];
    if (ticket == NO_TICKET)
        return;
    const run_t run = run_in(ticket, each, owners, offsets);
    const tile_t tile = tile_share(memory, item, run.end - run.start);
    const bool is_first = run.number == 0;

    code_t codes[KEYS_PER_ITEM];
    uint ranks[RANK_WORDS], places[PLACE_WORDS];
    load_codes(tile, keys_in + run.start, codec, flags, codes);
    count_digits(tile, digit, codes, ranks);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint totals[BINS_PER_ITEM], smaller[BINS_PER_ITEM];
    sum_rows(tile, totals);
    /* Keys beyond the end of the run count in the bin of CODE_MAX, which comes last: its sum is never used. */
    __global state_t *state = sweep + ROWS_AT + ((size_t)pass * rows + ticket) * BINS + item * BINS_PER_ITEM;
    if (is_first) {
        uint sum = 0;
#pragma unroll
        for (uint j = 0; j < BINS_PER_ITEM; j++)
            sum += item < BIN_ITEMS ? (uint)load_state(&state[j]) : 0;
        uint begin = work_group_scan(sum, BIN_ITEMS, memory + SCAN_AT / 4);
        if (item < BIN_ITEMS) {
#pragma unroll
            for (uint j = 0; j < BINS_PER_ITEM; j++) {
                const uint count = (uint)load_state(&state[j]);
                publish_state(&state[j], STATE_SUM | (begin + totals[j]));
                begin += count;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    } else if (item < BIN_ITEMS) {
#pragma unroll
        for (uint j = 0; j < BINS_PER_ITEM; j++)
            publish_state(&state[j], STATE_COUNT | totals[j]);
    }
    scan_bins(tile, totals, smaller);

    digit = next_phase(tile, digit);
    exchange_codes(tile, digit, codes, ranks, places);
#if HAS_VALUES
    value_t values[KEYS_PER_ITEM];
    load_values(tile, values_in + run.start, run.start - (flags & FLAG_FROM_SEGMENT ? run.first : 0), flags, values);
#endif
    if (item < BIN_ITEMS) {
#pragma unroll
        for (uint j = 0; j < BINS_PER_ITEM; j++) {
            offset_t before;
            if (is_first) {
                before = (offset_t)(STATE_VALUE(load_state(&state[j])) - totals[j]);
            } else {
                __global state_t *at = &state[j];
                before = 0;
                if (!look_back(&at, control, &before))
                    give_up(control, STATUS_WAITED); /* sums that are too small still give positions in the output */
                publish_state(&state[j], STATE_SUM | (state_t)(before + totals[j]));
            }
            set_origin(tile, item * BINS_PER_ITEM + j, (offset_t)run.first + before - (offset_t)smaller[j]);
        }
    }
#if HAS_VALUES
    exchange_values(tile, values, places);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    digit = next_phase(tile, digit);
#if HAS_VALUES
    uint digits[DIGIT_WORDS];
#endif
    store_tile(tile, digit, keys_out,
#if HAS_VALUES
               values_out, digits,
#endif
               codec, flags, 0);
}
