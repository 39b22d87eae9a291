/* Rows of several columns: out[i] = in[index[i]] for each of up to 8 columns, whose elements have 1 to 16 bytes. */
#include "common.clh"

#if !defined(INDEX_BITS) || !defined(GROUP_SIZE)
# error "INDEX_BITS, 32 or 64: bits of an index; GROUP_SIZE: work-items of a work-group. Set by src/primitives"
#endif
#if INDEX_BITS == 64
typedef ulong index_t;
#else
typedef uint index_t;
#endif

/* Shape of an element: its number of units, plus 256 times the bytes of a unit, which is moved at once. */
#define UNITS(shape) ((shape) & 0xff)
#define UNIT_BYTES(shape) ((shape) >> 8)

#define MOVE(unit_t)                                  \
    for (uint unit = 0; unit < units; unit++)         \
        ((__global unit_t *)out)[to * units + unit] = \
            is_inside ? ((__global const unit_t *)in)[from * units + unit] : (unit_t)(0);

/* One element of one column: zero if `from` is out of range. */
INLINE void move_element(__global const uchar *in, __global uchar *out, ulong from, ulong to, bool is_inside, uint shape)
{
    const uint units = UNITS(shape);
    const uint bytes = UNIT_BYTES(shape); /* uniform within a column; Oclgrind does not support a switch on it */
    if (bytes & 1)
        MOVE(uchar)
    if (bytes & 2)
        MOVE(ushort)
    if (bytes & 4)
        MOVE(uint)
    if (bytes & 8)
        MOVE(uint2)
    if (bytes & 16)
        MOVE(uint4)
}

#define COLUMN(number) __global const uchar *in##number, __global uchar *out##number
/* The parameter of this work-item's column. */
#define OF_COLUMN(array)                                               \
    (column < 4    ? column < 2    ? column == 0 ? array##0 : array##1 \
                     : column == 2 ? array##2                          \
                                   : array##3                          \
     : column < 6  ? column == 4 ? array##4 : array##5                 \
     : column == 6 ? array##6                                          \
                   : array##7)

/* Groups process the columns one after the other, each with as many groups as all rows need.
 * @param length  elements of each input column
 * @param result_words    word `slot` is 0 before
 * @post  as gather.cl: an index of `length` or more leaves its elements zero, and result_words[slot] = by how much the
 *        largest one exceeds length - 1, 0 if none does */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void gather_columns(__global const index_t *indices, ulong n, ulong length, uint columns, uint8 shapes,
                    __global uint *result_words, uint slot, COLUMN(0), COLUMN(1), COLUMN(2), COLUMN(3), COLUMN(4), COLUMN(5),
                    COLUMN(6), COLUMN(7))
{
    const uint groups = (uint)get_num_groups(0) / columns, column = (uint)get_group_id(0) / groups;
    const ulong i = (ulong)(get_group_id(0) - column * groups) * GROUP_SIZE + get_local_id(0);
    if (i >= n)
        return;
    const ulong from = indices[i];
    const bool is_inside = from < length;
    move_element(OF_COLUMN(in), OF_COLUMN(out), from, i, is_inside, OF_COLUMN(shapes.s));
    if (!is_inside && column == 0)
        atomic_max(&result_words[slot], (uint)min(from - length, (ulong)0xfffffffe) + 1);
}
