/* Keys among sorted keys, by a binary search for each key.
 *
 *   search_sorted  insertion positions
 *   contains       membership */
#include "key_codec.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/primitives/search-sorted.ts"
#endif

/* @return how many of `sorted` come before `code`; with `right`, including those equal to it */
INLINE ulong insertion_point(__global const key_t *sorted, ulong length, code_t code, uint right, codec_t codec)
{
    ulong low = 0, high = length;
    while (low < high) {
        const ulong middle = (low + high) >> 1;
        const code_t other = encode_key(sorted[middle], codec);
        if (right ? other <= code : other < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* @pre  `sorted` is in the order of `codec`
 * @post places[i] = how many of `sorted` come before keys[i]; with `right`, including those equal to it */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void search_sorted(__global const key_t *sorted, __global const key_t *keys, __global uint *places, ulong length, ulong n,
                   uint right, codec_t codec)
{
    const ulong i = get_global_id(0);
    if (i < n)
        places[i] = (uint)insertion_point(sorted, length, encode_key(keys[i], codec), right, codec);
}

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
    const ulong place = insertion_point(sorted, length, encode_key(key, codec), 0, codec);
    const uint found = place < length && sorted[place] == key ? 1 : 0;
    mask[i] = (uchar)(found ^ inverted);
}
