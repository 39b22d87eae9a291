/* Reduction of values run by run: run r is [places[r], places[r + 1]).
 *
 *   reduce_run_tiles  each group reduces the runs within its tile, and stores partial results of runs that start or end
 *                     in other tiles
 *   reduce_run_ends   one group combines the partial results
 *
 *   ITEMS  values per work-item
 */
#include "combine.clh"

#if !defined(GROUP_SIZE) || !defined(ITEMS)
# error "GROUP_SIZE and ITEMS: set by src/primitives/reduce-runs.ts"
#endif
#define RUNS_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
#define TILE (GROUP_SIZE * ITEMS)
#define NO_RUN 0xffffffffu

#if WIDE && OP == 0 && KIND != 2
typedef ulong result_t;
# define RESULT(operand) (operand)
#else
typedef key_t result_t;
# define RESULT(operand) key_of(operand, codec)
#endif

/* Segmented scan over the group: the combined values since the last end of a run in the preceding work-items.
 * @param ends   whether a run ends among the values of the work-item
 * @param since  its combined values after its last end, or all of them
 * @post  *carry as above, *ended = whether a run ended before; the last entries of sinces and heads: the same for
 *        the group, until the next barrier */
INLINE void carry_of_runs(bool ends, operand_t since, operand_t *carry, bool *ended, __local operand_t *sinces,
                          __local uint *heads)
{
    const uint item = (uint)get_local_id(0);
    uint has_end = ends;
    sinces[item] = since;
    heads[item] = has_end;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < GROUP_SIZE; distance <<= 1) {
        const bool inside = item >= distance;
        const operand_t other = inside ? sinces[item - distance] : IDENTITY;
        const uint other_end = inside ? heads[item - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!has_end)
            since = COMBINE(other, since);
        has_end |= other_end;
        sinces[item] = since;
        heads[item] = has_end;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *carry = item > 0 ? sinces[item - 1] : IDENTITY;
    *ended = item > 0 && heads[item - 1] != 0;
}

/* @param places  start of each of `runs` runs, the first one at 0
 * @post  results[run] for runs that start in the same tile as the next run; per tile: firsts = values before its
 *        first start of a run, closed = the run that ends there, or NO_RUN; lasts = values after its last start, or
 *        all values if there is none */
RUNS_KERNEL void reduce_run_tiles(__global const key_t *values, __global const uint *places, __global result_t *results,
                                  __global operand_t *firsts, __global operand_t *lasts, __global uint *closed, ulong n,
                                  uint runs, codec_t codec)
{
    __local operand_t sinces[GROUP_SIZE];
    __local uint heads[GROUP_SIZE], first_closed;
    const uint item = (uint)get_local_id(0), tile = (uint)get_group_id(0);
    const ulong from = (ulong)tile * TILE + (ulong)item * ITEMS, to = min(from + ITEMS, n);

    if (item == 0)
        first_closed = NO_RUN;
    /* The first run that starts at or after `from`. */
    uint run = 0;
    for (uint high = from < n ? runs : 0; run < high;) {
        const uint middle = (run + high) >> 1;
        if (places[middle] < from)
            run = middle + 1;
        else
            high = middle;
    }
    const uint closes = run; /* its first start ends the previous run */
    operand_t before = IDENTITY, since = IDENTITY;
    bool ends = false;
    ulong next = run < runs ? places[run] : n;
    for (ulong i = from; i < to; i++) {
        if (i == next && run < runs) {
            if (ends)
                results[run - 1] = RESULT(since);
            else
                before = since;
            ends = true;
            since = IDENTITY;
            run++;
            next = run < runs ? places[run] : n;
        }
        since = COMBINE(since, operand_of(values[i], codec));
    }
    operand_t carry;
    bool ended;
    carry_of_runs(ends, since, &carry, &ended, sinces, heads);
    if (ends) {
        const operand_t whole = COMBINE(carry, before);
        if (ended) {
            results[closes - 1] = RESULT(whole);
        } else {
            first_closed = closes - 1; /* no run precedes the first: NO_RUN */
            firsts[tile] = whole;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        closed[tile] = heads[GROUP_SIZE - 1] ? first_closed : NO_RUN - 1;
    if (item == GROUP_SIZE - 1)
        lasts[tile] = sinces[item];
}

/* @pre   as stored by reduce_run_tiles; closed = NO_RUN - 1 marks a tile in which no run starts
 * @post  results of all runs */
RUNS_KERNEL void reduce_run_ends(__global result_t *results, __global const operand_t *firsts,
                                 __global const operand_t *lasts, __global const uint *closed, uint tiles, uint runs,
                                 codec_t codec)
{
    __local operand_t sinces[GROUP_SIZE];
    __local uint heads[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    operand_t open = IDENTITY; /* of the run that spans the start of the tiles */
    for (uint start = 0; start < tiles; start += GROUP_SIZE) {
        const uint tile = start + item;
        const bool inside = tile < tiles;
        const uint run = inside ? closed[tile] : NO_RUN - 1;
        const bool ends = run != NO_RUN - 1;
        operand_t carry;
        bool ended;
        carry_of_runs(ends, inside ? lasts[tile] : IDENTITY, &carry, &ended, sinces, heads);
        if (!ended)
            carry = COMBINE(open, carry);
        if (ends && run != NO_RUN)
            results[run] = RESULT(COMBINE(carry, firsts[tile]));
        open = heads[GROUP_SIZE - 1] ? sinces[GROUP_SIZE - 1] : COMBINE(open, sinces[GROUP_SIZE - 1]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0 && runs > 0)
        results[runs - 1] = RESULT(open);
}
