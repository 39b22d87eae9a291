/* Canonical keys: equal bits for keys that compare equal as numbers.
 *
 * `infinity` is the bit pattern of +infinity of a float dtype, 0 for integers, which are canonical already. */
#include "canonical_key.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/sort/backend/device-column-kernels.ts"
#endif

/* @post out[i] = in[i], but +0 for either zero, and one quiet NaN for every NaN */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void canonical(__global const key_t *in, __global key_t *out, ulong n, ulong infinity)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    out[i] = canonical_key(in[i], infinity);
}
