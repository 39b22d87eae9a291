/* Determines which bits of the codes differ: the bitwise and, and the bitwise or, of all codes.
 *
 *   GROUP_SIZE  work-items of a work-group */
#include "key_codec.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, set by src/sort/backend/key-range-probe.ts"
#endif

/* @param all    and of all codes: low word, high word; all ones before the launch
 * @param any    or of all codes, likewise; zero before the launch
 */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void key_range_probe(__global const key_t *restrict keys,
                                                                                      __global uint *all, __global uint *any,
                                                                                      ulong n, codec_t codec)
{
    __local uint group_all[2], group_any[2];
    const uint item = (uint)get_local_id(0);
    if (item < 2) {
        group_all[item] = 0xffffffffu;
        group_any[item] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    code_t own_all = CODE_MAX, own_any = 0;
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const code_t code = encode_key(keys[i], codec);
        own_all &= code;
        own_any |= code;
    }
    atomic_and(&group_all[0], (uint)own_all);
    atomic_or(&group_any[0], (uint)own_any);
#if KEY_BITS == 64
    atomic_and(&group_all[1], (uint)(own_all >> 32));
    atomic_or(&group_any[1], (uint)(own_any >> 32));
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < (KEY_BITS == 64 ? 2 : 1)) {
        atomic_and(&all[item], group_all[item]);
        atomic_or(&any[item], group_any[item]);
    }
}
