/* Radix sort of a medium-sized array in one launch, by work-groups that all run at the same time.
 *
 * Each group holds one tile of the array in registers and local memory. A pass is
 *
 *   load → rank → publish the counts → barrier → sum the counts of all tiles → store → barrier
 *
 * with two device-wide barriers: positions are computed when all counts are published, and the next pass loads when
 * all keys are stored. Between load and store the whole array is in the groups, so every pass works in place.
 *
 * All groups must be resident at once, which the host ensures, and make progress concurrently, which OpenCL does
 * not guarantee. Spins are bounded; groups whose wait fails end without another store.
 *
 *   GROUP_SIZE, KEYS_PER_ITEM, RADIX_BITS, RANK  see digit_rank.clh
 *   SPIN_LIMIT  unsuccessful polls before a group gives up
 */
#define SMALL_CODE 1
#include "count_rows.clh"
#include "radix_tile.clh"

#ifndef SPIN_LIMIT
# error "SPIN_LIMIT: futile looks before a group gives up, set by src/algorithms/persistent-radix.ts"
#endif
#if OFFSET_BITS != 32
# error "persistent_radix sorts what fits the groups of one launch: OFFSET_BITS must be 32"
#endif
#if __OPENCL_C_VERSION__ < 200
# error "persistent_radix needs the device-scope atomics of OpenCL C 2.0"
#endif

/* Words of the buffer `control`, which is zero before the first launch. Each launch restores all but the statuses. */
#define CONTROL_STATUS 0  /* why the result of the last launch is invalid, 0 if it is valid */
#define CONTROL_ARRIVED 1 /* arrivals at device-wide barriers, over all barriers of the launch */
#define CONTROL_LEFT 2    /* groups that have ended */
#define CONTROL_FAILED 3  /* of the current launch, becomes its status */
#define CONTROL_ANY 4     /* all bits of all statuses so far: one read covers any number of launches */

/* The tiles are divided into PARTS for summing their counts: a work-item reads four neighbouring bins of the tiles
 * of one part. The sums of the parts replace the counters. */
#if ROWS < 2
# error "GROUP_SIZE: at least two rows, whose counters give room for the sums"
#elif GROUP_SIZE / FOURS >= ROWS / 2
# define PARTS (ROWS / 2)
#elif GROUP_SIZE >= FOURS
# define PARTS (GROUP_SIZE / FOURS)
#else
# define PARTS 1
#endif

/* Device-wide barrier: waits for all groups.
 * @param number  of the barrier, from 1 on
 * @pre   called by all work-items of the group, which agree on `answer`, a word of local memory
 * @post  previous writes of the work-items of all groups are visible to all
 * @return false if some group did not arrive */
INLINE bool meet(__global atomic_uint *control, uint number, __local uint *answer)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        const uint expected = number * (uint)get_num_groups(0);
        atomic_fetch_add_explicit(&control[CONTROL_ARRIVED], 1u, memory_order_acq_rel, memory_scope_device);
        uint spins = 0;
        while (atomic_load_explicit(&control[CONTROL_ARRIVED], memory_order_acquire, memory_scope_device) < expected &&
               spins < SPIN_LIMIT)
            spins++;
        *answer = spins < SPIN_LIMIT;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *answer != 0;
}

/* The last group to end stores the status of the launch, and restores `control`.
 * @pre  called by one work-item of each group */
INLINE void leave(__global atomic_uint *control, bool failed)
{
    if (failed)
        atomic_fetch_or_explicit(&control[CONTROL_FAILED], STATUS_WAITED, memory_order_relaxed, memory_scope_device);
    const uint before = atomic_fetch_add_explicit(&control[CONTROL_LEFT], 1u, memory_order_acq_rel, memory_scope_device);
    if (before + 1 < (uint)get_num_groups(0))
        return;
    const uint failures = atomic_load_explicit(&control[CONTROL_FAILED], memory_order_relaxed, memory_scope_device);
    atomic_store_explicit(&control[CONTROL_STATUS], failures, memory_order_relaxed, memory_scope_device);
    if (failures != 0)
        atomic_fetch_or_explicit(&control[CONTROL_ANY], failures, memory_order_relaxed, memory_scope_device);
    for (uint word = CONTROL_ARRIVED; word <= CONTROL_FAILED; word++)
        atomic_store_explicit(&control[word], 0u, memory_order_relaxed, memory_scope_device);
}

/* Computes the output positions of this tile's keys of each bin: after all smaller digits, and after those of
 * earlier tiles.
 * @param counts   [tile][bin], complete
 * @param smaller  keys of the tile with a smaller digit, for the bins of this work-item
 * @post  origin_of_bin for all bins, visible to the group after a barrier */
INLINE void add_up(tile_t tile, __global const uint *counts, const uint *smaller)
{
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    /* The ranking no longer needs its counters. */
    __local uint *before = tile.memory + COUNTERS_AT / 4, *all = before + PARTS * BINS;
    for (uint entry = tile.item; entry < PARTS * FOURS; entry += GROUP_SIZE) {
        __global const uint4 *fours = (__global const uint4 *)counts + entry % FOURS;
        uint4 earlier = (uint4)(0), sum = (uint4)(0);
#pragma unroll 1
        for (uint other = entry / FOURS; other < groups; other += BATCH * PARTS) {
            uint4 batch[BATCH];
            load_rows(fours, other, PARTS, groups, batch);
#pragma unroll
            for (uint i = 0; i < BATCH; i++) {
                sum += batch[i];
                earlier += other + i * PARTS < group ? batch[i] : (uint4)(0);
            }
        }
        vstore4(earlier, entry, before);
        vstore4(sum, entry, all);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    uint own[BINS_PER_ITEM], totals[BINS_PER_ITEM], sum = 0;
#pragma unroll
    for (uint j = 0; j < BINS_PER_ITEM; j++) {
        own[j] = totals[j] = 0;
        if (tile.item < BIN_ITEMS) {
            const uint bin = tile.item * BINS_PER_ITEM + j;
#pragma unroll
            for (uint part = 0; part < PARTS; part++) {
                own[j] += before[part * BINS + bin];
                totals[j] += all[part * BINS + bin];
            }
        }
        sum += totals[j];
    }
    sum = work_group_scan(sum, BIN_ITEMS, tile.memory + SCAN_AT / 4);
#pragma unroll
    for (uint j = 0; j < BINS_PER_ITEM; j++) {
        if (tile.item < BIN_ITEMS)
            set_origin(tile, tile.item * BINS_PER_ITEM + j, (offset_t)(sum + own[j]) - (offset_t)smaller[j]);
        sum += totals[j];
    }
}

/* Sorts n keys by the window [begin, end) of their codes, stably; one group per TILE of them. May work in place.
 * @param counts   of the digits of a pass, [tile][bin]
 * @param control  see above */
TILE_KERNEL void persistent_radix(__global const key_t *keys_in, __global key_t *keys_out,
#if HAS_VALUES
                                  __global const value_t *values_in, __global value_t *values_out,
#endif
                                  __global uint *counts, __global atomic_uint *control, uint n, uint begin, uint end,
                                  codec_t codec, uint flags)
{
    TILE_MEMORY(memory);
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint start = group * TILE;
    const tile_t tile = tile_share(memory, item, min(n - start, (uint)TILE));
    if (item == 0)
        memory[ZERO_AT / 4] = 0;
    bool ordered = true;

    uint meetings = 0, shift = begin;
    bool together = true, first = true;
#pragma unroll 1
    do {
        const uint bits = shift < end ? digit_bits(shift, end) : 0;
        digit_t digit = digit_at(shift, bits, 2);
        shift += bits;
        const bool last = shift >= end;

        if (item == 0)
            memory[CROWDED_AT / 4] = 0;
        clear_counters(memory);
        barrier(CLK_LOCAL_MEM_FENCE);
        code_t codes[KEYS_PER_ITEM];
        uint ranks[RANK_WORDS], places[PLACE_WORDS];
        load_codes(tile, (first ? keys_in : keys_out) + start, codec, first ? flags & FLAG_ENCODE : 0, codes);
        count_digits(tile, digit, codes, ranks);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint totals[BINS_PER_ITEM], smaller[BINS_PER_ITEM];
        sum_rows(tile, totals);
        if (item < BIN_ITEMS)
            for (uint j = 0; j < BINS_PER_ITEM; j++)
                counts[group * BINS + item * BINS_PER_ITEM + j] = totals[j];
        scan_bins(tile, totals, smaller);

        digit = next_phase(tile, digit);
#if RANK == RANK_LANES
        const bool copied = is_copied(tile);
        if (!copied)
#endif
            exchange_codes(tile, digit, codes, ranks, places);
#if HAS_VALUES
        value_t values[KEYS_PER_ITEM];
        load_values(tile, (first ? values_in : values_out) + start, start, first ? flags & FLAG_POSITIONS : 0, values);
# if !VALUES_AFTER
        exchange_values(tile, values, places);
# endif
#endif
        together = meet(control, ++meetings, memory + SCAN_AT / 4);
        if (!together)
            break;
        add_up(tile, counts, smaller);
        barrier(CLK_LOCAL_MEM_FENCE);
        digit = next_phase(tile, digit);
#if HAS_VALUES
        uint digits[DIGIT_WORDS];
#endif
        const uint store_flags = (last ? flags & FLAG_DECODE : 0) | (first ? FLAG_FIRST : 0);
#if RANK == RANK_LANES
        if (copied)
            copy_tile(tile, digit, codes, keys_out, codec, store_flags);
        else
#endif
            ordered &= store_tile(tile, digit, keys_out,
#if HAS_VALUES
                                  values_out, digits,
#endif
                                  codec, store_flags, bits_of_codes(0, shift));
#if HAS_VALUES && VALUES_AFTER
        store_values(tile, values, places, digits, values_out);
#endif
        first = false;
        if (!last)
            together = meet(control, ++meetings, memory + SCAN_AT / 4);
    } while (together && shift < end);

#if RANK == RANK_LANES
    if (!ordered)
        atomic_fetch_or_explicit(&control[CONTROL_FAILED], STATUS_DISORDER, memory_order_relaxed, memory_scope_device);
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    if (item == 0)
        leave(control, !together);
}
