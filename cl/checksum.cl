/* A sum over the bytes of a buffer, for comparison with the same sum over host memory: it detects transfer errors.
 * Every 32-bit word is multiplied by its own odd factor, so a change of one word always changes the sum. The bytes
 * after the last whole word count as a zero-padded word. src/native/checksum.cc computes the same sum.
 *
 * Set by src/sort/verification/group-sums.ts:
 *   LOCAL_SIZE  work-items of a group, a power of two
 */
#ifndef LOCAL_SIZE
# error "LOCAL_SIZE: work-items of a group, a power of two, set by src/sort/verification/group-sums.ts"
#endif

/* Each group takes `per_group` neighbouring words.
 * @post partials[group] = its part of the sum (mod 2^64) */
__kernel __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1)))
void checksum(__global const uint *words, __global ulong *partials, ulong bytes, ulong per_group)
{
    __local ulong sums[LOCAL_SIZE];
    const uint lid = get_local_id(0);
    const ulong whole = bytes / 4;
    const ulong first = get_group_id(0) * per_group;
    const ulong last = min(first + per_group, whole);
    ulong sum = 0;

    for (ulong i = first + lid; i < last; i += LOCAL_SIZE)
        sum += (ulong)words[i] * (uint)(2 * i + 1);
    if (get_group_id(0) == 0 && lid == 0) {
        uint word = 0;
        for (ulong i = 4 * whole; i < bytes; i++)
            word |= (uint)((__global const uchar *)words)[i] << (8 * (i & 3));
        sum += (ulong)word * (uint)(2 * whole + 1);
    }
    sums[lid] = sum;
    for (uint half_size = LOCAL_SIZE / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < half_size)
            sums[lid] += sums[lid + half_size];
    }
    if (lid == 0)
        partials[get_group_id(0)] = sums[0];
}
