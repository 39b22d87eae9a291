/* Cuts sorted runs so that the keys before the cuts are the first keys of all. The keys between two cuts are a part
 * of the merged whole, which is sorted separately: see take_slices.cl.
 *
 * One work-group per rank and one work-item per run. The group finds the largest digit with at most `rank` keys
 * below it, from its highest bit down. Each item counts its run's keys below a digit by binary search, between the
 * counts of the previous bits. Keys of that digit are taken from earlier runs first.
 *
 * Source: multisequence selection of P. J. Varman et al., "Merging Multiple Lists on Hierarchical-Memory
 * Multiprocessors" (1991), here by bisecting the codes.
 */
#include "key_codec.clh"
#include "runs.clh"

/* @return the compared bits of a code */
INLINE code_t window(code_t code, uint begin, uint width)
{
    return code >> begin & (width == KEY_BITS ? CODE_MAX : ((code_t)1 << width) - 1);
}

INLINE ulong sum(const __local ulong *counts, uint end)
{
    ulong total = 0;
    for (uint i = 0; i < end; i++)
        total += counts[i];
    return total;
}

/* @param run0 …  sorted runs of run_keys keys each, n in all: the last may be shorter, or there may be fewer runs
 * @param cuts    [rank][run]: keys of the run that are among the first (rank + 1) * run_keys of all
 * @param begin   first compared bit of the codes; `width` bits are compared */
__kernel __attribute__((reqd_work_group_size(RUNS, 1, 1)))
void cut_runs(RUN_PARAMETERS(key_t), __global ulong *cuts, ulong n, ulong run_keys, uint begin, uint width, codec_t codec)
{
    __local ulong counts[RUNS];
    const uint item = (uint)get_local_id(0);
    const ulong rank = min((get_group_id(0) + 1) * run_keys, n);
    const ulong start = min(item * run_keys, n), length = min(run_keys, n - start);
    __global const key_t *run = RUN(item);
    /* Keys below `digit`, and below the next digit. */
    ulong below = 0, through = length;
    code_t digit = 0;
    for (uint bit = width; bit-- > 0;) {
        const code_t trial = digit | (code_t)1 << bit;
        ulong low = below, high = through;
        while (low < high) {
            const ulong middle = low + (high - low) / 2;
            if (window(encode_key(run[middle], codec), begin, width) < trial)
                low = middle + 1;
            else
                high = middle;
        }
        counts[item] = low;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (sum(counts, RUNS) <= rank) {
            digit = trial;
            below = low;
        } else {
            through = low;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    counts[item] = below;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong left = rank - sum(counts, RUNS);
    barrier(CLK_LOCAL_MEM_FENCE);
    counts[item] = through - below;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong earlier = sum(counts, item);
    cuts[get_group_id(0) * RUNS + item] = below + (left > earlier ? min(left - earlier, through - below) : 0);
}
