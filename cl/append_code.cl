/* Packs the codes of several columns into one word, so that one sort orders by all of them.
 *
 *   PACKED_BITS  32 or 64: width of that word
 *
 * `infinity` is the bit pattern of +infinity of a float dtype, 0 for integers. */
#include "canonical_key.clh"
#include "key_codec.clh"

#if !defined(GROUP_SIZE) || !defined(PACKED_BITS)
# error "GROUP_SIZE and PACKED_BITS: set by src/sort/backend/device-column-kernels.ts"
#endif
#if PACKED_BITS == 32
typedef uint packed_t;
#else
typedef ulong packed_t;
#endif

/* @post packed[i] has the code of in[i] at `shift`: of +0 for either zero and of one NaN for all. Other bits are 0
 *       with `first`, otherwise unchanged */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void append_code(__global const key_t *in, __global packed_t *packed, ulong n, ulong infinity, uint shift, uint first,
                 codec_t codec)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    const packed_t code = (packed_t)encode_key(canonical_key(in[i], infinity), codec) << shift;
    packed[i] = first ? code : packed[i] | code;
}
