/* Verification of distinct keys and their counts: the keys ascend, and each occurs in the input as often as its
 * count says.
 *
 * The sum of hashes over all keys of the input must equal the sum over the distinct keys of hash times count. Keys
 * are compared as numbers, so the canonical key is hashed.
 *
 * Set by src/sort/backend/device-column-verifier.ts: LOCAL_SIZE.
 */
#include "key_codec.clh"
#include "canonical_key.clh"
#include "group_sums.clh"

/* Each group takes `per_group` neighbouring keys.
 * @param counts    occurrences of each key; read only with `is_result`
 * @param infinity  as in canonical_key.clh
 * @post partials[2 * group] = sum of hashes, partials[2 * group + 1] = keys of a result that do not ascend, or have
 *       count 0 */
CHECK_KERNEL
void verify_unique(__global const key_t *keys, __global const uint *counts, __global ulong *partials, ulong n,
                   ulong per_group, codec_t codec, ulong infinity, uint is_result)
{
    __local ulong sums[2 * LOCAL_SIZE];
    const ulong first = get_group_id(0) * per_group;
    const ulong last = min(first + per_group, n);
    ulong hashes = 0, wrong = 0;
    for (ulong i = first + get_local_id(0); i < last; i += LOCAL_SIZE) {
        const key_t key = canonical_key(keys[i], infinity);
        if (!is_result) {
            hashes += hash_key(key);
            continue;
        }
        hashes += hash_key(key) * counts[i];
        wrong += counts[i] == 0;
        if (i > 0)
            wrong += encode_key(canonical_key(keys[i - 1], infinity), codec) >= encode_key(key, codec);
    }
    leave_sums(sums, hashes, wrong, partials);
}
