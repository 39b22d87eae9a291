/* Verification of a scan: each result is its predecessor combined with one more key.
 *
 * Together with the first result this defines a scan, if a combination does not round: for integers, minima and
 * maxima. One pass over keys and results, in any order.
 *
 * Set by src/sort/backend/device-column-verifier.ts: LOCAL_SIZE; OP, KIND and WIDE as in combine.clh.
 */
#include "combine.clh"
#include "group_sums.clh"

/* Each group takes `per_group` neighbouring results.
 * @post partials[2 * group] = results that are wrong, partials[2 * group + 1] = 0 */
CHECK_KERNEL
void verify_scan(__global const key_t *in, __global const key_t *out, __global ulong *partials, ulong n, ulong per_group,
                 codec_t codec, uint inclusive)
{
    __local ulong sums[2 * LOCAL_SIZE];
    const ulong first = get_group_id(0) * per_group;
    const ulong last = min(first + per_group, n);
    ulong wrong = 0;
    for (ulong i = first + get_local_id(0); i < last; i += LOCAL_SIZE) {
        const operand_t before = i > 0 ? operand_of(out[i - 1], codec) : IDENTITY;
        operand_t expected = before;
        if (inclusive)
            expected = COMBINE(before, operand_of(in[i], codec));
        else if (i > 0)
            expected = COMBINE(before, operand_of(in[i - 1], codec));
        wrong += out[i] != key_of(expected, codec);
    }
    leave_sums(sums, wrong, 0, partials);
}
