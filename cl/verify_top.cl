/* Verification of the sorted first keys of each segment: they are the keys at their positions, in order, and the
 * number of a segment's keys up to the last selected one equals the number of selected keys.
 *
 * Sorted keys with ascending positions among equal ones are distinct elements. If no other keys of the input come
 * before the last of them, they are the first. An array is one segment.
 *
 * Set by src/sort/backend/device-column-verifier.ts: LOCAL_SIZE.
 */
#include "key_codec.clh"
#include "group_sums.clh"
#include "segment_of.clh"

#define TOP_FROM_SEGMENT 1u /* positions count from the start of each segment */

INLINE code_t window(key_t key, codec_t codec, uint begin, code_t mask)
{
    return (encode_key(key, codec) >> begin) & mask;
}

/* Checks n keys, m results and `segments` segments: each group checks `per_group` neighbouring ones of all three.
 * @param offsets    start of each segment, then n
 * @param begins     start of each segment's results, then m
 * @post partials[2 * group] = errors in results and segments, partials[2 * group + 1] = keys that come no later
 *       than the last result of their segment: m in all */
CHECK_KERNEL
void verify_top(__global const key_t *keys, __global const key_t *top, __global const uint *positions,
                __global const uint *offsets, __global const uint *begins, __global ulong *partials, ulong n, ulong m,
                uint segments, uint k, ulong per_group, codec_t codec, uint begin, uint bits, uint flags)
{
    __local ulong sums[2 * LOCAL_SIZE];
    const ulong first = get_group_id(0) * per_group;
    const ulong last = min(first + per_group, n + m + segments);
    const code_t mask = bits >= KEY_BITS ? CODE_MAX : (code_t)(((code_t)1 << bits) - 1);
    ulong wrong = 0, counted = 0;
    for (ulong at = first + get_local_id(0); at < last; at += LOCAL_SIZE) {
        if (at < n) {
            const segment_t segment = segment_of(at, offsets, segments);
            const ulong from = flags & TOP_FROM_SEGMENT ? segment.first : 0;
            const ulong end = begins[segment.number + 1];
            if (end <= begins[segment.number] || end > m)
                continue;
            const code_t code = bits == 0 ? 0 : window(keys[at], codec, begin, mask);
            const code_t limit = bits == 0 ? 0 : window(top[end - 1], codec, begin, mask);
            counted += code < limit || (code == limit && at <= from + positions[end - 1]);
        } else if (at < n + m) {
            const ulong i = at - n;
            const segment_t results = segment_of(i, begins, segments);
            const ulong own = offsets[results.number];
            const ulong position = positions[i] + (flags & TOP_FROM_SEGMENT ? own : 0);
            if (position < own || position >= offsets[results.number + 1] || position >= n) {
                wrong++;
                continue;
            }
            wrong += keys[position] != top[i];
            if (i + 1 >= min(results.last, m))
                continue;
            const code_t here = bits == 0 ? 0 : window(top[i], codec, begin, mask);
            const code_t next = bits == 0 ? 0 : window(top[i + 1], codec, begin, mask);
            wrong += here > next || (here == next && positions[i] >= positions[i + 1]);
        } else {
            const uint segment = (uint)(at - n - m);
            const uint length = offsets[segment + 1] - offsets[segment];
            wrong += begins[segment + 1] - begins[segment] != min(length, k);
            wrong += segment == 0 && begins[0] != 0;
        }
    }
    leave_sums(sums, wrong, counted, partials);
}
