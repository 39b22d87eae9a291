/* Canonical keys: equal bits for keys that compare equal as numbers.
 *
 * `infinity` is the pattern of +infinity of a float dtype, 0 for integers, which are canonical already.
 */
#include "common.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/sort/operations/device-column-steps.ts"
#endif

/* @post out[i] = in[i], but +0 for either zero, and one quiet NaN for every NaN */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void canonical(__global const key_t *in, __global key_t *out, ulong n, ulong infinity)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    code_t key = in[i];
    if (infinity != 0) {
        const code_t magnitude = key & (CODE_MAX >> 1);
        if (magnitude == 0)
            key = 0;
        else if (magnitude > (code_t)infinity)
            key = CODE_MAX >> 1;
    }
    out[i] = (key_t)key;
}
