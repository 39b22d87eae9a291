/* Insertion positions of keys among sorted keys.
 *
 *   search_sorted  a binary search for each key */
#include "key_codec.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/primitives/search-sorted.ts"
#endif

/* @pre  `sorted` is in the order of `codec`
 * @post places[i] = how many of `sorted` come before keys[i]; with `right`, including those equal to it */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void search_sorted(__global const key_t *sorted, __global const key_t *keys, __global uint *places, ulong length, ulong n,
                   uint right, codec_t codec)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    const code_t code = encode_key(keys[i], codec);
    ulong low = 0, high = length;
    while (low < high) {
        const ulong middle = (low + high) >> 1;
        const code_t other = encode_key(sorted[middle], codec);
        if (right ? other <= code : other < code)
            low = middle + 1;
        else
            high = middle;
    }
    places[i] = (uint)low;
}
