/* out[i] = in[index[i]], for elements of UNITS units of UNIT_BYTES bytes.
 *
 *   gather       one array
 *   gather_each  up to 8 arrays with their own indices, each processed by its own consecutive groups
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

/* Element i: zero if its index is out of range. */
#define GATHER(in, from, out, i, length)      \
    for (uint unit = 0; unit < UNITS; unit++) \
        (out)[(i) * UNITS + unit] = (from) < (length) ? (in)[(from) * UNITS + unit] : (unit_t)(0);
#define REPORT_OUTSIDE(result_words, from, length) \
    if ((from) >= (length))                        \
        atomic_max(result_words, (uint)min((from) - (length), (ulong)0xfffffffe) + 1);

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
    GATHER(in, from, out, i, length)
    REPORT_OUTSIDE(&result_words[slot], from, length)
}

#define ARRAY(number) \
    __global const unit_t *in##number, __global const index_t *indices##number, __global unit_t *out##number

/* An element of an array whose groups start after `before`. Each array has its own code: selecting a parameter at
 * run time takes longer than an element. */
#define GATHER_OF(number, before, count, length, slot)                        \
    {                                                                         \
        const uint i = (group - (before)) * GROUP_SIZE + item;                \
        if (i < (count)) {                                                    \
            const index_t from = indices##number[i];                          \
            GATHER(in##number, (ulong)from, out##number, (ulong)i, length)    \
            REPORT_OUTSIDE(&result_words[slot], (ulong)from, (ulong)(length)) \
        }                                                                     \
    }

/* The same for several arrays, none of which is both read and written.
 * @param first, second  per array: its number of indices, of elements to read, its slot, and the first group of the
 *        next array; entries after the last array repeat it */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void gather_each(__global uint *result_words, uint16 first, uint16 second, ARRAY(0), ARRAY(1), ARRAY(2), ARRAY(3), ARRAY(4),
                 ARRAY(5), ARRAY(6), ARRAY(7))
{
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    if (group < first.s3)
        GATHER_OF(0, 0, first.s0, first.s1, first.s2)
    else if (group < first.s7)
        GATHER_OF(1, first.s3, first.s4, first.s5, first.s6)
    else if (group < first.sb)
        GATHER_OF(2, first.s7, first.s8, first.s9, first.sa)
    else if (group < first.sf)
        GATHER_OF(3, first.sb, first.sc, first.sd, first.se)
    else if (group < second.s3)
        GATHER_OF(4, first.sf, second.s0, second.s1, second.s2)
    else if (group < second.s7)
        GATHER_OF(5, second.s3, second.s4, second.s5, second.s6)
    else if (group < second.sb)
        GATHER_OF(6, second.s7, second.s8, second.s9, second.sa)
    else
        GATHER_OF(7, second.sb, second.sc, second.sd, second.se)
}
