/* Row sort: many independent rows of at most ROW keys, one bit at a time. 32 work-items hold a row; a mask of the
 * zero bits and a population count give each key its position, and the keys ping-pong in local memory.
 *
 *   ROW         32 or 64: most keys of a row, 1 or 2 per work-item
 *   GROUP_SIZE  work-items of a group, a multiple of 32
 *   ROW_VOTE    how the mask is computed: 0 local atomics by every work-item (no assumption on hardware),
 *               1 one sub_group_ballot and one atomic per sub-group of any width, 2 vote.sync of PTX
 *   ROW_TRACE   1: mask, positions and codes of each bit go to `trace`, for clsort explain and the tests
 *
 * Barriers separate every write of the keys from the reads: lock step is not assumed.
 */
#include "comparison.clh"

#ifndef ROW
# error "ROW: keys of a row, 32 or 64, set by src/algorithms/row-sort.ts"
#endif
#if ROW != 32 && ROW != 64
# error "ROW must be 32 or 64"
#endif
#ifndef ROW_VOTE
# error "ROW_VOTE: 0 masks, 1 sub-group ballots, 2 PTX votes, set by src/algorithms/row-sort.ts"
#endif
#ifndef ROW_TRACE
# error "ROW_TRACE: 0 or 1, set by src/algorithms/row-sort.ts"
#endif
#if ROW_VOTE == 1
# pragma OPENCL EXTENSION cl_khr_subgroups : enable
# pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#endif

#define LANES 32u
#define WORDS (ROW / 32) /* of a row's mask, and keys of a work-item */
#define ROWS (GROUP_SIZE / 32)

/* popcount requires OpenCL C 1.2. */
INLINE uint count_ones(uint word)
{
    word -= (word >> 1) & 0x55555555u;
    word = (word & 0x33333333u) + ((word >> 2) & 0x33333333u);
    return (((word + (word >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}

/* Sorts each row of `row_length` consecutive keys, the last one possibly shorter, by code bits [begin, end). May
 * work in place: a group reads its rows completely before it writes them. */
GROUP_KERNEL void row_sort(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                           __global const value_t *values, __global value_t *values_out,
#endif
#if ROW_TRACE
                           __global uint *masks, __global uint *places, __global key_t *codes_out,
#endif
                           ulong n, uint row_length, codec_t codec, uint begin, uint end, uint flags)
{
    __local key_t codes[2][ROWS * ROW];
    __local uchar sources[2][ROWS * ROW];
    __local uint zeros[ROWS * WORDS];
    const uint item = (uint)get_local_id(0), lane = item % LANES, row = item / LANES;
    const size_t first = ((size_t)get_group_id(0) * ROWS + row) * row_length;
    const uint length = first >= n ? 0 : (uint)min((ulong)row_length, n - first);
    const uint base = row * ROW;
    uint from = 0;

    for (uint k = 0; k < WORDS; k++) {
        const uint at = k * LANES + lane;
        /* Padding has the largest digit in every window and comes last, so it stays after the keys. */
        codes[0][base + at] = (key_t)(at < length ? code_of(keys[first + at], codec, flags) : CODE_MAX);
        sources[0][base + at] = (uchar)at;
    }
    for (uint bit = begin; bit < end; bit++) {
        code_t code[WORDS];
        uint zero[WORDS];
        if (lane < WORDS)
            zeros[row * WORDS + lane] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < WORDS; k++) {
            code[k] = codes[from][base + k * LANES + lane];
            zero[k] = (uint)(~code[k] >> bit) & 1u;
#if ROW_VOTE == 0
            if (zero[k])
                atomic_or(&zeros[row * WORDS + k], 1u << lane);
#elif ROW_VOTE == 1
            const uint4 vote = sub_group_ballot((int)zero[k]);
            /* A sub-group wider than 32 spans rows; each row takes its own word of the vote. */
            const uint in_sub = get_sub_group_local_id();
            if (in_sub % LANES == 0)
                atomic_or(&zeros[row * WORDS + k], (in_sub < 32   ? vote.x
                                                    : in_sub < 64 ? vote.y
                                                    : in_sub < 96 ? vote.z
                                                                  : vote.w)
                                                       << lane);
#else
            uint vote;
            asm volatile("{ .reg .pred zero; setp.ne.u32 zero, %1, 0; vote.sync.ballot.b32 %0, zero, 0xffffffff; }"
                         : "=r"(vote)
                         : "r"(zero[k]));
            if (lane == 0)
                zeros[row * WORDS + k] = vote;
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint all_zeros = 0;
        for (uint k = 0; k < WORDS; k++)
            all_zeros += count_ones(zeros[row * WORDS + k]);
        uint before = 0; /* zeros in earlier words of the mask */
        for (uint k = 0; k < WORDS; k++) {
            const uint at = k * LANES + lane;
            const uint smaller = before + count_ones(zeros[row * WORDS + k] & ((1u << lane) - 1u));
            const uint place = zero[k] ? smaller : all_zeros + at - smaller;
            codes[1 - from][base + place] = (key_t)code[k];
            sources[1 - from][base + place] = sources[from][base + at];
            before += count_ones(zeros[row * WORDS + k]);
#if ROW_TRACE
            const size_t trace = (size_t)(bit - begin) * ROW + at;
            if (get_global_id(0) < LANES) {
                places[trace] = place;
                codes_out[(size_t)(bit - begin) * ROW + place] = (key_t)code[k];
                if (lane == 0)
                    masks[(bit - begin) * WORDS + k] = zeros[row * WORDS + k];
            }
#endif
        }
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#if HAS_VALUES
    value_t moved[WORDS];
    for (uint k = 0; k < WORDS; k++) {
        const uint source = sources[from][base + k * LANES + lane];
        if (k * LANES + lane < length)
            moved[k] = load_value(values, first + source, flags);
    }
    /* In place, every value of the row must be read before one is written. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
    for (uint k = 0; k < WORDS; k++) {
        const uint at = k * LANES + lane;
        if (at >= length)
            continue;
        store_code(keys_out, first + at, codes[from][base + at], codec, flags);
#if HAS_VALUES
        values_out[first + at] = moved[k];
#endif
    }
}
