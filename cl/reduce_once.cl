/* Reduction of n keys in one launch: groups store the results of their parts, and the last group combines them.
 *
 *   WIDE is 1: see combine.clh; vector_keys.clh, tile_scan.clh and look_back.clh for further macros that the host sets
 *   IN_LANES  1: a group is one work-item with its own vector unit, which combines 16 keys at once */
#include "combine.clh"
#include "vector_keys.clh"
#include "primitive.clh"
#include "tile_scan.clh"

/* Groups publish bit patterns, also those of floats. */
#if FLOAT_OPERANDS && KEY_BITS == 32
# define BITS_OF(operand) as_uint(operand)
# define OPERAND_OF_BITS(bits) as_float((uint)(bits))
typedef uint bits_t;
#elif FLOAT_OPERANDS
# define BITS_OF(operand) as_ulong(operand)
# define OPERAND_OF_BITS(bits) as_double(bits)
typedef ulong bits_t;
#else
# define BITS_OF(operand) (operand)
# define OPERAND_OF_BITS(bits) (bits)
typedef operand_t bits_t;
#endif
#include "state_words.clh"

#ifndef IN_LANES
# error "IN_LANES: 0 or 1, set by src/primitives/primitive-program.ts"
#endif
#if IN_LANES
# include "combine_lanes.clh"
# if GROUP_SIZE != 1
#  error "IN_LANES: groups of one work-item"
# endif

/* ADD_OPERAND for each lane. */
# if FLOAT_OPERANDS && OP == 0
#  define ADD_LANES(sums, losts, operands)                                        \
    {                                                                             \
        const operands_t more_ = (operands) - losts, next_ = sums + more_;        \
        losts = isinf(next_) ? (operands_t)(operand_t)0 : (next_ - sums) - more_; \
        sums = next_;                                                             \
    }
# else
#  define ADD_LANES(sums, losts, operands) sums = COMBINE(sums, operands);
# endif

/* All keys of the group's part combined: the keys are contiguous, so that each cache line is read by one group. */
INLINE operand_t combine_own(__global const key_t *in, ulong n, codec_t codec)
{
    const ulong group = get_group_id(0), groups = get_num_groups(0), blocks = n / (2 * LANES);
    ulong at = blocks * group / groups * (2 * LANES);
    const ulong end = blocks * (group + 1) / groups * (2 * LANES), stop = group + 1 == groups ? n : end;
    /* Two accumulators, so that additions need not wait for each other. */
    operands_t sums[2] = {(operands_t)(lane_operand_t)IDENTITY, (operands_t)(lane_operand_t)IDENTITY};
# if FLOAT_OPERANDS && OP == 0
    operands_t losts[2] = {(operands_t)(operand_t)0, (operands_t)(operand_t)0};
# endif
    for (; at < end; at += 2 * LANES) {
        ADD_LANES(sums[0], losts[0], operand_lanes(load_lanes(in + at), codec))
        ADD_LANES(sums[1], losts[1], operand_lanes(load_lanes(in + at + LANES), codec))
    }
    lane_operand_t own[2 * LANES];
    vstore16(sums[0], 0, own);
    vstore16(sums[1], 1, own);
    operand_t sum = IDENTITY;
    LOST_OPERAND
# pragma unroll
    for (uint i = 0; i < 2 * LANES; i++)
        ADD_OPERAND(sum, (operand_t)own[i])
    for (; at < stop; at++)
        ADD_OPERAND(sum, operand_of(in[at], codec))
    return sum;
}
#else
INLINE void add_vector(operand_t *sums, operand_t *losts, const key_t *keys, codec_t codec)
{
#pragma unroll
    for (uint i = 0; i < VECTOR_KEYS; i++) {
#if FLOAT_OPERANDS && OP == 0
        operand_t lost = losts[i];
#endif
        ADD_OPERAND(sums[i], operand_of(keys[i], codec))
#if FLOAT_OPERANDS && OP == 0
        losts[i] = lost;
#endif
    }
}

/* All keys of the work-item combined. */
INLINE operand_t combine_own(__global const key_t *in, ulong n, codec_t codec)
{
    const ulong stride = get_global_size(0), vectors = n / VECTOR_KEYS;
    operand_t sums[VECTOR_KEYS], losts[VECTOR_KEYS]; /* separate per vector lane: additions need not wait for each other */
#pragma unroll
    for (uint i = 0; i < VECTOR_KEYS; i++) {
        sums[i] = IDENTITY;
        losts[i] = 0;
    }

    ulong at = get_global_id(0);
    for (; at + (ROUNDS - 1) * stride < vectors; at += ROUNDS * stride) {
        key_t keys[ROUNDS][VECTOR_KEYS]; /* many loads in flight */
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            load_keys(in + (at + round * stride) * VECTOR_KEYS, keys[round]);
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            add_vector(sums, losts, keys[round], codec);
    }
    if (at < vectors) {
        key_t keys[ROUNDS][VECTOR_KEYS]; /* and those of the rest */
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            if (at + round * stride < vectors)
                load_keys(in + (at + round * stride) * VECTOR_KEYS, keys[round]);
#pragma unroll
        for (uint round = 0; round < ROUNDS; round++)
            if (at + round * stride < vectors)
                add_vector(sums, losts, keys[round], codec);
    }
    operand_t sum = IDENTITY;
    LOST_OPERAND
#pragma unroll
    for (uint i = 0; i < VECTOR_KEYS; i++)
        ADD_OPERAND(sum, sums[i])
    for (ulong i = vectors * VECTOR_KEYS + get_global_id(0); i < n; i += stride)
        ADD_OPERAND(sum, operand_of(in[i], codec))
    return sum;
}
#endif

/* @param control  word 0: number of finished groups, 0 before the launch and after it; after a margin the published
 *        values
 * @param launch   a number that no launch has used since the words were cleared
 * @post  result_words[slot], result_words[slot + 1] = the result, as 64 bits */
PRIMITIVE_KERNEL
void reduce_once(__global const key_t *in, __global uint *control, ulong n, uint launch, codec_t codec,
                 __global uint *result_words, uint slot)
{
    __local operand_t scratch[GROUP_SIZE];
    __local uint last;
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    operand_t all = combine_group(combine_own(in, n, codec), scratch);
    __global uint *words = control + CONTROL_MARGIN;
    if (item == 0) {
        publish_words(words, group, launch, STATE_AGGREGATE, BITS_OF(all));
        last = atomic_inc(control) == groups - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!last)
        return;
    /* All others published their values before they were counted; the values may not be visible yet. */
    all = IDENTITY;
    LOST_OPERAND
    for (uint other = item; other < groups; other += GROUP_SIZE) {
        bits_t bits;
        while (read_state(words, other, launch, &bits) == 0)
            ;
        ADD_OPERAND(all, OPERAND_OF_BITS(bits))
    }
    all = combine_group(all, scratch);
    if (item == 0) {
        atomic_xchg(control, 0);
        const ulong bits = BITS_OF(all);
        result_words[slot] = (uint)bits;
        result_words[slot + 1] = (uint)(bits >> 32);
    }
}
