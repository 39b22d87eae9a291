/* Concatenates the slices of sorted runs between two cuts (see cut_runs.cl), in the order of the runs.
 *
 *   ELEMENT_BYTES  1, 2, 4, 8 or 16: bytes of a key, or of a value */
#include "runs.clh"

#ifndef ELEMENT_BYTES
# error "ELEMENT_BYTES: bytes of an element, set by src/sort/transfer/run-cutter.ts"
#endif
#if ELEMENT_BYTES == 1
typedef uchar element_t;
#elif ELEMENT_BYTES == 2
typedef ushort element_t;
#elif ELEMENT_BYTES == 4
typedef uint element_t;
#elif ELEMENT_BYTES == 8
typedef uint2 element_t;
#elif ELEMENT_BYTES == 16
typedef uint4 element_t;
#else
# error "ELEMENT_BYTES must be 1, 2, 4, 8 or 16"
#endif

/* One work-item per element of the part.
 *
 * @param run0 …  elements of the runs, in the order of their keys
 * @param cuts    [rank][run], from cut_runs
 * @param slices  count elements: all between cut part - 1 and cut part */
__kernel void take_slices(RUN_PARAMETERS(element_t), __global const ulong *restrict cuts,
                          __global element_t *restrict slices, uint part, ulong count)
{
    const ulong i = get_global_id(0);
    if (i >= count)
        return;
    ulong start = 0;
    for (uint r = 0; r < RUNS; r++) {
        const ulong begin = part == 0 ? 0 : cuts[(part - 1) * RUNS + r], length = cuts[part * RUNS + r] - begin;
        if (i - start < length) {
            slices[i] = RUN(r)[begin + (i - start)];
            return;
        }
        start += length;
    }
}
