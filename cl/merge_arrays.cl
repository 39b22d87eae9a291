/* Merges two sorted arrays stably: among equal keys those of the first array come first.
 *
 *   merge_arrays  each work-item finds the start of its share of the result in both arrays, and merges from there
 *   merge_tiles   a group finds the start of its tile, and its work-items merge in local memory
 *
 *   ITEMS  keys of the result per work-item
 */
#include "key_codec.clh"

#if !defined(GROUP_SIZE) || !defined(ITEMS)
# error "GROUP_SIZE and ITEMS: set by src/primitives/merge-arrays.ts"
#endif
#define MERGE_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))

/* How many of the first `diagonal` result keys are from `a` (the merge path of O. Green, S. Odeh and Y. Birk,
 * 2012). */
#define MERGE_PATH(path, code_of_a, code_of_b, a_length, b_length, diagonal)      \
    {                                                                             \
        ulong low_ = (ulong)max((long)(diagonal) - (long)(b_length), 0L);         \
        ulong high_ = min((ulong)(diagonal), (ulong)(a_length));                  \
        while (low_ < high_) {                                                    \
            const ulong in_a = (low_ + high_) >> 1, in_b = (diagonal) - 1 - in_a; \
            if (code_of_a <= code_of_b)                                           \
                low_ = in_a + 1;                                                  \
            else                                                                  \
                high_ = in_a;                                                     \
        }                                                                         \
        path = low_;                                                              \
    }

MERGE_KERNEL void merge_arrays(__global const key_t *a, __global const key_t *b, __global key_t *out, ulong a_length,
                               ulong b_length, codec_t codec)
{
    const ulong n = a_length + b_length, first = get_global_id(0) * ITEMS;
    if (first >= n)
        return;
    const ulong last = min(first + ITEMS, n);
    ulong from_a;
    MERGE_PATH(from_a, encode_key(a[in_a], codec), encode_key(b[in_b], codec), a_length, b_length, first)
    ulong from_b = first - from_a;
    code_t code_a = from_a < a_length ? encode_key(a[from_a], codec) : 0;
    code_t code_b = from_b < b_length ? encode_key(b[from_b], codec) : 0;
    for (ulong i = first; i < last; i++) {
        if (from_b >= b_length || (from_a < a_length && code_a <= code_b)) {
            out[i] = decode_key(code_a, codec);
            from_a++;
            code_a = from_a < a_length ? encode_key(a[from_a], codec) : 0;
        } else {
            out[i] = decode_key(code_b, codec);
            from_b++;
            code_b = from_b < b_length ? encode_key(b[from_b], codec) : 0;
        }
    }
}

#if GROUP_SIZE > 1
#define TILE (GROUP_SIZE * ITEMS)

MERGE_KERNEL void merge_tiles(__global const key_t *a, __global const key_t *b, __global key_t *out, ulong a_length,
                              ulong b_length, codec_t codec)
{
    __local key_t codes[TILE];
    __local ulong paths[2];
    const uint item = (uint)get_local_id(0);
    const ulong n = a_length + b_length, first = (ulong)get_group_id(0) * TILE, last = min(first + TILE, n);
    if (item < 2) {
        const ulong diagonal = item == 0 ? first : last;
        ulong path;
        MERGE_PATH(path, encode_key(a[in_a], codec), encode_key(b[in_b], codec), a_length, b_length, diagonal)
        paths[item] = path;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong from_a = paths[0], from_b = first - from_a;
    const uint count = (uint)(last - first);
    /* In unsorted arrays the paths of two diagonals may cross; both are still within the arrays. */
    const uint count_a = (uint)(clamp(paths[1], from_a, from_a + count) - from_a), count_b = count - count_a;
    for (uint i = item; i < count; i += GROUP_SIZE)
        codes[i] = (key_t)encode_key(i < count_a ? a[from_a + i] : b[from_b + (i - count_a)], codec);
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint own = min(item * ITEMS, count);
    uint next_a;
    MERGE_PATH(next_a, codes[in_a], codes[count_a + in_b], count_a, count_b, own)
    uint next_b = own - next_a;
    key_t merged[ITEMS];
# pragma unroll
    for (uint i = 0; i < ITEMS; i++) {
        const bool has_a = next_a < count_a, has_b = next_b < count_b;
        const key_t code_a = has_a ? codes[next_a] : (key_t)0, code_b = has_b ? codes[count_a + next_b] : (key_t)0;
        const bool takes_a = !has_b || (has_a && code_a <= code_b);
        merged[i] = takes_a ? code_a : code_b;
        next_a += takes_a;
        next_b += !takes_a;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
# pragma unroll
    for (uint i = 0; i < ITEMS; i++)
        if (own + i < count)
            codes[own + i] = merged[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < count; i += GROUP_SIZE)
        out[first + i] = decode_key(codes[i], codec);
}
#endif
