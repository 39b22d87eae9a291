/* Reduction of n keys to one value: the five steps of the classic ladder, and a grid-stride loop.
 *
 *   OP    0 sum, 1 minimum, 2 maximum
 *   KIND  0 unsigned, 1 signed, 2 float keys
 *
 * Sums of integers are 64-bit and wrap; sums of floats have the keys' own type. Minimum and maximum compare codes
 * (key_codec.clh). They need no floating point, and -0, +0 and NaN are ordered: the host selects the codec in which
 * a NaN wins.
 */
#include "key_codec.clh"
#include "trace.clh"

#ifndef GROUP_SIZE
# error "GROUP_SIZE: work-items of a work-group, a power of two, set by src/lab/reduce.ts"
#endif
#if !defined(OP) || !defined(KIND)
# error "OP and KIND: set by src/lab/reduce.ts"
#endif

#if OP != 0
typedef code_t sum_t;
# define COMBINE(a, b) (OP == 1 ? min(a, b) : max(a, b))
# define IDENTITY (OP == 1 ? CODE_MAX : (code_t)0)
#else
# define COMBINE(a, b) ((a) + (b))
# define IDENTITY ((sum_t)0)
# if KIND != 2
typedef ulong sum_t;
# elif KEY_BITS == 32
typedef float sum_t;
# elif KEY_BITS == 64
#  pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double sum_t;
# else
#  error "sums of 16-bit floats are not supported"
# endif
#endif

INLINE sum_t value_of(key_t key, codec_t codec)
{
#if OP != 0
    return encode_key(key, codec);
#elif KIND == 0
    return key;
#elif KIND == 1
    /* Sign extension by arithmetic shift. */
    return (ulong)((long)((ulong)key << (64 - KEY_BITS)) >> (64 - KEY_BITS));
#elif KEY_BITS == 32
    return as_float(key);
#else
    return as_double(key);
#endif
}

INLINE sum_t load(__global const key_t *keys, ulong i, ulong n, codec_t codec)
{
    return i < n ? value_of(keys[i], codec) : IDENTITY;
}

#define LADDER(name)                                                            \
    __kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void name( \
        __global const key_t *keys, __global sum_t *partials, ulong n, codec_t codec TRACED(sum_t))

#define TRACE_SUMS TRACE_LOCAL(sums[word], GROUP_SIZE)

/* Step 1: neighbours at growing distance; every second, fourth, ... work-item works, all others idle. */
LADDER(reduce_interleaved)
{
    __local sum_t sums[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    sums[item] = load(keys, get_global_id(0), n, codec);
    TRACE_SUMS
    for (uint distance = 1; distance < GROUP_SIZE; distance <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item % (2 * distance) == 0)
            sums[item] = COMBINE(sums[item], sums[item + distance]);
        TRACE_SUMS
    }
    if (item == 0)
        partials[get_group_id(0)] = sums[0];
}

/* Step 2: the same pairs, by the first work-items of the group: no divergence, but bank conflicts. */
LADDER(reduce_compacted)
{
    __local sum_t sums[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    sums[item] = load(keys, get_global_id(0), n, codec);
    TRACE_SUMS
    for (uint distance = 1; distance < GROUP_SIZE; distance <<= 1) {
        const uint at = 2 * distance * item;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (at < GROUP_SIZE)
            sums[at] = COMBINE(sums[at], sums[at + distance]);
        TRACE_SUMS
    }
    if (item == 0)
        partials[get_group_id(0)] = sums[0];
}

/* Sum over the group by halving distances.
 * @return the sum, for work-item 0 */
INLINE sum_t reduce_group(sum_t value, __local sum_t *sums TRACED(sum_t))
{
    const uint item = (uint)get_local_id(0);
    sums[item] = value;
    TRACE_SUMS
    for (uint distance = GROUP_SIZE / 2; distance > 0; distance >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < distance)
            sums[item] = COMBINE(sums[item], sums[item + distance]);
        TRACE_SUMS
    }
    return sums[0];
}

/* Step 3: halving distances; neighbours read neighbouring words. */
LADDER(reduce_halving)
{
    __local sum_t sums[GROUP_SIZE];
    const sum_t sum = reduce_group(load(keys, get_global_id(0), n, codec), sums TRACE_ON);
    if (get_local_id(0) == 0)
        partials[get_group_id(0)] = sum;
}

/* Step 4: two loads and a first combination per work-item: half the groups. */
LADDER(reduce_two_loads)
{
    __local sum_t sums[GROUP_SIZE];
    const ulong i = (ulong)get_group_id(0) * 2 * GROUP_SIZE + get_local_id(0);
    const sum_t first = load(keys, i, n, codec), second = load(keys, i + GROUP_SIZE, n, codec);
    const sum_t sum = reduce_group(COMBINE(first, second), sums TRACE_ON);
    if (get_local_id(0) == 0)
        partials[get_group_id(0)] = sum;
}

/* Step 5: step 4 with the loop unrolled; every level keeps its barrier, because lock step is not guaranteed. */
LADDER(reduce_unrolled)
{
    __local sum_t sums[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong i = (ulong)get_group_id(0) * 2 * GROUP_SIZE + item;
    const sum_t first = load(keys, i, n, codec), second = load(keys, i + GROUP_SIZE, n, codec);
    sums[item] = COMBINE(first, second);
    TRACE_SUMS
#define LEVEL(distance)                                                \
    if (GROUP_SIZE > (distance)) {                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                  \
        if (item < (distance))                                         \
            sums[item] = COMBINE(sums[item], sums[item + (distance)]); \
        TRACE_SUMS                                                     \
    }
    LEVEL(128)
    LEVEL(64)
    LEVEL(32)
    LEVEL(16)
    LEVEL(8)
    LEVEL(4)
    LEVEL(2)
    LEVEL(1)
    if (item == 0)
        partials[get_group_id(0)] = sums[0];
}

/* Adds a value to a long sum. Floats track the rounding error (W. Kahan, 1965), so that it does not grow with the
 * number of values; at infinity the error is 0. */
#define ADD(value)                                                       \
    {                                                                    \
        const sum_t next = COMBINE(sum, (value) - lost);                 \
        lost = isinf(next) ? (sum_t)0 : (next - sum) - ((value) - lost); \
        sum = next;                                                      \
    }
#if OP != 0 || KIND != 2
# undef ADD
# define ADD(value) sum = COMBINE(sum, value);
#endif

/* As many groups as fill the device process all keys in a grid-stride loop, four at a time. */
LADDER(reduce_grid)
{
    __local sum_t sums[GROUP_SIZE];
    sum_t sum = IDENTITY;
#if OP == 0 && KIND == 2
    sum_t lost = 0;
#endif
    const ulong stride = get_global_size(0), quads = n / 4;
    for (ulong i = get_global_id(0); i < quads; i += stride) {
        const sum_t a = value_of(keys[4 * i], codec), b = value_of(keys[4 * i + 1], codec);
        const sum_t c = value_of(keys[4 * i + 2], codec), d = value_of(keys[4 * i + 3], codec);
        ADD(a)
        ADD(b)
        ADD(c)
        ADD(d)
    }
    const ulong tail = 4 * quads + get_global_id(0);
    if (tail < n) {
        const sum_t last = value_of(keys[tail], codec);
        ADD(last)
    }
    const sum_t total = reduce_group(sum, sums TRACE_ON);
    if (get_local_id(0) == 0)
        partials[get_group_id(0)] = total;
}

/* The next level: each group combines PARTIALS_PER_ITEM * GROUP_SIZE partial results. */
#define PARTIALS_PER_ITEM 8

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void reduce_partials(__global const sum_t *partials, __global sum_t *results, ulong n TRACED(sum_t))
{
    __local sum_t sums[GROUP_SIZE];
    sum_t sum = IDENTITY;
    const ulong first = (ulong)get_group_id(0) * PARTIALS_PER_ITEM * GROUP_SIZE + get_local_id(0);
    for (uint k = 0; k < PARTIALS_PER_ITEM; k++) {
        const ulong i = first + k * GROUP_SIZE;
        if (i < n)
            sum = COMBINE(sum, partials[i]);
    }
    const sum_t total = reduce_group(sum, sums TRACE_ON);
    if (get_local_id(0) == 0)
        results[get_group_id(0)] = total;
}
