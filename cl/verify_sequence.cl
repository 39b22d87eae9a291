/* Verification of a compaction: an order-dependent hash of the selected keys, and their number.
 *
 * The hash of a sequence is the polynomial of its keys' hashes at BASE, modulo 2^64. The hash of two concatenated
 * sequences is the hash of the first times BASE to the length of the second, plus that of the second. So work-items
 * may start anywhere, and input and result may be divided differently.
 *
 * Set by src/sort/backend/device-column-verifier.ts: LOCAL_SIZE; CHOOSE 0: mask bytes that are not 0; 1: keys
 * whose codes are in a range; 2: all keys.
 */
#include "key_codec.clh"
#include "group_sums.clh"

#ifndef CHOOSE
# error "CHOOSE: set by src/sort/backend/device-column-verifier.ts"
#endif

#define BASE 0xd1342543de82ef95UL /* odd, so that no power of it is 0 */

/* Each group takes `per_group` neighbouring keys.
 * @param invert  select all other keys instead
 * @post partials[2 * group] = hash of the sequence that the group has selected, partials[2 * group + 1] = its
 *       length */
CHECK_KERNEL
void verify_sequence(__global const key_t *keys, __global const uchar *mask, __global ulong *partials, ulong n,
                     ulong per_group, ulong low, ulong high, uint invert, codec_t codec)
{
    __local ulong hashes[LOCAL_SIZE], powers[LOCAL_SIZE], lengths[LOCAL_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong end = min(get_group_id(0) * per_group + per_group, n);
    const ulong each = (per_group + LOCAL_SIZE - 1) / LOCAL_SIZE;
    const ulong first = get_group_id(0) * per_group + item * each;
    const ulong last = min(first + each, end);
    ulong hash = 0, power = 1, length = 0;
    for (ulong i = first; i < last; i++) {
#if CHOOSE == 0
        const bool is_inside = mask[i] != 0;
#elif CHOOSE == 1
        const code_t code = encode_key(keys[i], codec);
        const bool is_inside = code >= low && code <= high;
#else
        const bool is_inside = true;
#endif
        if (is_inside == (invert != 0))
            continue;
        hash = hash * BASE + hash_key(keys[i]);
        power *= BASE;
        length++;
    }
    hashes[item] = hash;
    powers[item] = power;
    lengths[item] = length;
    for (uint distance = 1; distance < LOCAL_SIZE; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item % (2 * distance) == 0) {
            hashes[item] = hashes[item] * powers[item + distance] + hashes[item + distance];
            powers[item] *= powers[item + distance];
            lengths[item] += lengths[item + distance];
        }
    }
    if (item == 0) {
        partials[2 * get_group_id(0)] = hashes[0];
        partials[2 * get_group_id(0) + 1] = lengths[0];
    }
}
