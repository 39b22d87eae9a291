/* out[i] = in[index[i]], for elements of UNITS units of UNIT_BYTES bytes.
 *
 *   UNIT_BYTES   1, 2, 4, 8 or 16
 *   UNITS        units of an element
 *   INDEX_BITS   32 or 64
 *   CHECKED      1: an index that is not inside is told
 */
#if !defined(UNIT_BYTES) || !defined(UNITS) || !defined(INDEX_BITS) || !defined(GROUP_SIZE) || !defined(CHECKED)
# error "UNIT_BYTES, UNITS, INDEX_BITS, GROUP_SIZE and CHECKED: set by src/primitives/gather.ts"
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
#if INDEX_BITS == 32
typedef uint index_t;
#else
typedef ulong index_t;
#endif

#if CHECKED
# define TOLD_PARAMETERS , __global uint *told, uint slot
#else
# define TOLD_PARAMETERS
#endif

/* @param told  word number `slot` is 0 before
 * @post  an index of `length` or more leaves its element zero: no work-item reads outside of `in`;
 *        told[slot] says by how much more than length - 1 the largest of them was, 0 if there was none
 */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void gather(__global const unit_t *in, __global const index_t *indices, __global unit_t *out, ulong n,
            ulong length TOLD_PARAMETERS)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    const ulong from = indices[i];
    for (uint unit = 0; unit < UNITS; unit++)
        out[i * UNITS + unit] = from < length ? in[from * UNITS + unit] : (unit_t)(0);
#if CHECKED
    if (from >= length)
        atomic_max(&told[slot], (uint)min(from - length + 1, (ulong)0xffffffff));
#endif
}
