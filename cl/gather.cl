/* out[i] = in[index[i]], for elements of UNITS units of UNIT_BYTES bytes.
 *
 *   UNIT_BYTES   1, 2, 4, 8 or 16
 *   UNITS        units of an element
 *   INDEX_BITS   32 or 64: bits of an index
 */

#if !defined(UNIT_BYTES) || !defined(UNITS) || !defined(INDEX_BITS) || !defined(GROUP_SIZE)
# error "UNIT_BYTES, UNITS, INDEX_BITS and GROUP_SIZE: set by src/primitives/gather.ts"
#endif
#if INDEX_BITS == 64
typedef ulong index_t;
#else
typedef uint index_t;
#endif
#if UNIT_BYTES == 1
typedef uchar unit_t;
#elif UNIT_BYTES == 2
typedef ushort unit_t;
#elif UNIT_BYTES == 4
typedef uint unit_t;
#elif UNIT_BYTES == 8
typedef uint2 unit_t;
#else
typedef uint4 unit_t;
#endif

/* @param result_words  word `slot` is 0 before
 * @post  an index of `length` or more leaves its element zero: no work-item reads outside of `in`; result_words[slot] = by
 *        how much the largest index exceeds length - 1, 0 if none does */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void gather(__global const unit_t *in, __global const index_t *indices, __global unit_t *out, ulong n, ulong length,
            __global uint *result_words, uint slot)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    const ulong from = indices[i];
    for (uint unit = 0; unit < UNITS; unit++)
        out[i * UNITS + unit] = from < length ? in[from * UNITS + unit] : (unit_t)(0);
    if (from >= length)
        atomic_max(&result_words[slot], (uint)min(from - length, (ulong)0xfffffffe) + 1);
}
