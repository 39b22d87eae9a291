/* Membership of keys in a sorted array.
 *
 *   contains  a binary search for each key */
#include "key_codec.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/primitives/search-sorted.ts"
#endif

/* @pre  `sorted` is in the order of `codec`
 * @post mask[i] = whether `sorted` contains the bits of keys[i]; with `inverted`, whether it does not */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void contains(__global const key_t *sorted, __global const key_t *keys, __global uchar *mask, ulong length, ulong n,
              uint inverted, codec_t codec)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    const key_t key = keys[i];
    const code_t code = encode_key(key, codec);
    ulong low = 0, high = length;
    while (low < high) {
        const ulong middle = (low + high) >> 1;
        if (encode_key(sorted[middle], codec) < code)
            low = middle + 1;
        else
            high = middle;
    }
    const uint found = low < length && sorted[low] == key ? 1 : 0;
    mask[i] = (uchar)(found ^ inverted);
}
