/* The step of the reduce ladder that requires sub-groups: the last levels without barriers. For clsort explain and
 * clsort bench ladder; the other steps are in reduce.cl.
 *
 *   SUB_GROUPS  1: sub-groups of OpenCL, of any width; 2: warps of 32 by PTX */
#include "reduce.cl"

#ifndef SUB_GROUPS
# error "SUB_GROUPS: 1 or 2, set by src/explain/reduce.ts"
#endif

#if SUB_GROUPS == 1
# pragma OPENCL EXTENSION cl_khr_subgroups : enable
# if OP == 0
#  define SUB_GROUP_TOTAL(value) sub_group_reduce_add(value)
# elif OP == 1
#  define SUB_GROUP_TOTAL(value) sub_group_reduce_min(value)
# else
#  define SUB_GROUP_TOTAL(value) sub_group_reduce_max(value)
# endif
# define SUB_GROUP get_sub_group_id()
# define SUB_GROUP_WIDTH get_sub_group_size()
# define LANE get_sub_group_local_id()
# define SUB_GROUP_COUNT get_num_sub_groups()
#else
/* @return the value of the lane `distance` further up. @pre  all 32 lanes of the warp call it */
INLINE uint lane_above(uint value, uint distance)
{
    uint other;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other) : "r"(value), "r"(distance));
    return other;
}

INLINE sum_t sub_group_total(sum_t value)
{
    union {
        sum_t value;
        uint words[(sizeof(sum_t) + 3) / 4];
    } own, other;
    own.value = value;
    for (uint distance = 16; distance > 0; distance >>= 1) {
        for (uint k = 0; k < sizeof(sum_t) / 4; k++)
            other.words[k] = lane_above(own.words[k], distance);
        own.value = COMBINE(own.value, other.value);
    }
    return own.value;
}
# define SUB_GROUP_TOTAL(value) sub_group_total(value)
# define SUB_GROUP ((uint)get_local_id(0) / 32u)
# define SUB_GROUP_WIDTH 32u
# define LANE ((uint)get_local_id(0) % 32u)
# define SUB_GROUP_COUNT ((GROUP_SIZE + 31u) / 32u)
#endif

/* Step 6: two loads, then each sub-group reduces its values, and the first one the results: one barrier in all. */
LADDER(reduce_subgroups)
{
    __local sum_t sums[GROUP_SIZE];
    const ulong i = (ulong)get_group_id(0) * 2 * GROUP_SIZE + get_local_id(0);
    const sum_t first = load(keys, i, n, codec), second = load(keys, i + GROUP_SIZE, n, codec);
    const sum_t own = SUB_GROUP_TOTAL(COMBINE(first, second));
    if (LANE == 0)
        sums[SUB_GROUP] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    TRACE_SUMS
    if (SUB_GROUP != 0)
        return;
    sum_t sum = IDENTITY;
    for (uint sub = LANE; sub < SUB_GROUP_COUNT; sub += SUB_GROUP_WIDTH)
        sum = COMBINE(sum, sums[sub]);
    sum = SUB_GROUP_TOTAL(sum);
    if (get_local_id(0) == 0)
        partials[get_group_id(0)] = sum;
}
