/* Sorts wide keys by few of their digits: passes of onesweep sort by the highest varying digits alone, and
 * hybrid_finish orders the keys that share these digits.
 *
 *   onesweep_histogram   counts all digits, and finds out whether the array is in order already
 *   hybrid_plan          detects varying digits, and tests on a sample how many of them separate the keys; plans one
 *                        pass for an array in order
 *   onesweep_pass        for each digit of the plan; afterwards equal prefixes are adjacent, in buckets
 *   hybrid_finish        places each key in its bucket, by counting the keys of the bucket that precede it
 *   hybrid_rest          sorts the buckets that are too large for counting, each by one group (hybrid_rest.cl)
 *
 * If many keys share their highest digits, all digits are needed. Passes alone sort such keys, and the last two
 * kernels have nothing to do. In both cases the sort is stable and correct: the sample only affects speed.
 *
 *   PLAN_SIZE     work-items of the group that plans
 *   SAMPLE        most keys of the sample, a power of two
 *   FINISH_SIZE   work-items of a group of hybrid_finish
 *   FINISH_KEYS   keys that each of them places
 *   BUCKET        most keys of a bucket whose keys are counted
 *   INLINE_PTX    1: NVIDIA, rows of 32 work-items vote
 */
#include "hybrid_bucket.clh"
#include "order.clh"

#ifndef PLAN_SIZE
# error "PLAN_SIZE: work-items of the group that plans, set by src/algorithms/hybrid-radix.ts"
#endif
#ifndef SAMPLE
# error "SAMPLE: most keys of the sample, set by src/algorithms/hybrid-radix.ts"
#endif
#ifndef FINISH_SIZE
# error "FINISH_SIZE: work-items of a group of hybrid_finish, set by src/algorithms/hybrid-radix.ts"
#endif
#ifndef FINISH_KEYS
# error "FINISH_KEYS: keys that a work-item of hybrid_finish places, set by src/algorithms/hybrid-radix.ts"
#endif
#ifndef BUCKET
# error "BUCKET: most keys of a bucket whose keys are counted, set by src/algorithms/hybrid-radix.ts"
#endif

#define PASSES (KEY_BITS / RADIX_BITS)
#define BINS (1u << RADIX_BITS)

/* Required number of moves: any, or a parity with which the last move ends in the output. */
#define PARITY_ANY 0u
#define PARITY_ODD 1u
#define PARITY_EVEN 2u

INLINE bool ends_right(uint moves, uint parity)
{
    return parity == PARITY_ANY || moves % 2 == parity % 2;
}

INLINE uint mixed(uint x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* Slots of the sample's table, twice as many as it has keys. */
#define TABLE (2 * SAMPLE)

/* Hash of a prefix. */
INLINE uint prefix_word(ulong prefix)
{
    return mixed((uint)prefix + mixed((uint)(prefix >> 32) + 0x9e3779b9u));
}

/* Keys of the sample per work-item. */
#define SAMPLE_KEYS ((SAMPLE + PLAN_SIZE - 1) / PLAN_SIZE)

/* Random positions in the array: sampling at regular intervals would miss periodic patterns and runs. */
INLINE uint sampled_place(uint i, uint n)
{
    return mul_hi(mixed(i), n);
}

/* Computes the plan, by one group.
 * @param counts         of all digits and histogram groups, [digit][group][bin]
 * @param passes         digits of the window [begin, end)
 * @param parity         required parity of the number of moves
 * @param fewest, most   digits that may be sorted by before hybrid_finish; most 0: hybrid_finish is not available
 * @param control        of onesweep.cl; CONTROL_SEEN is cleared
 * @param sampled        keys of the sample: SAMPLE, or all keys if there are fewer
 * @param crowd          most keys per bucket, if the prefixes were evenly distributed
 * @param repeats        keys of the sample that may share their prefix with another counted one
 * @post  plan
 */
__kernel __attribute__((reqd_work_group_size(PLAN_SIZE, 1, 1))) void hybrid_plan(
    __global const key_t *restrict keys, __global const uint *restrict counts, __global uint *restrict plan,
    __global uint *restrict control, ulong n, uint begin, uint end, uint passes, uint histogram_groups, uint parity,
    uint fewest, uint most, uint sampled, uint repeats, uint crowd, codec_t codec, uint flags)
{
    __local uint table[TABLE], words[SAMPLE];
    __local uint digits[PASSES], first_bins[PASSES], same[PASSES];
    __local uint repeated, seen;
    const uint item = (uint)get_local_id(0);

    /* The sample: all loads of a work-item are in flight at once, together with the first ones above. */
    code_t codes[SAMPLE_KEYS];
#pragma unroll
    for (uint k = 0; k < SAMPLE_KEYS; k++) {
        const uint i = k * PLAN_SIZE + item;
        codes[k] = i < sampled ? keys[sampled == SAMPLE ? sampled_place(i, (uint)n) : i] : 0;
    }

    if (item < passes) {
        uint shift = begin;
        for (uint number = 0; number < item; number++)
            shift += digit_bits(shift, end);
        const uint bits = digit_bits(shift, end);
        digits[item] = PLANNED_DIGIT(shift, bits, item);
        first_bins[item] = code_digit(code_of(keys[0], codec, flags), shift, bits);
        same[item] = 0;
    }
    if (item == 0) {
        seen = IN_NO_ORDER;
        if (flags & FLAG_ORDER) {
            seen = control[CONTROL_SEEN];
            control[CONTROL_SEEN] = 0; /* for the next sort */
        }
        plan[PLAN_LISTED] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (seen != IN_NO_ORDER) {
        if (item == 0) {
            plan[PLAN_FIRST] = IS_REVERSED(seen) ? FIRST_REVERSES : FIRST_MOVES;
            plan[PLAN_LOW] = 0;
        }
        return;
    }
    /* A digit is constant if all keys share the first key's digit. Neighbours add to the sums of different digits. */
    for (uint entry = item; entry < passes * histogram_groups; entry += PLAN_SIZE) {
        const uint number = entry % passes, group = entry / passes;
        atomic_add(&same[number], counts[((size_t)number * histogram_groups + group) * BINS + first_bins[number]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint varying = 0, vary = 0;
    for (uint number = 0; number < passes; number++) {
        const bool varies = same[number] != (uint)n;
        varying |= (uint)varies << number;
        vary += varies;
    }

    const bool tries = fewest <= most && fewest + 1 < vary;
    if (flags & FLAG_ENCODE) {
#pragma unroll
        for (uint k = 0; k < SAMPLE_KEYS; k++)
            codes[k] = encode_key(codes[k], codec);
    }

    /* Numbers of highest digits that may suffice. */
    uint open = 0;
    for (uint tried = fewest; tries && tried <= min(most, vary - 2); tried++) {
        const bool spreads = tried * RADIX_BITS >= 32 || n >> tried * RADIX_BITS <= crowd;
        open |= (uint)(ends_right(tried + 1, parity) && spreads) << tried;
    }
    /* Digits to sort by: all that vary, or the fewest highest ones whose prefixes separate the keys of the sample.
     * The largest candidate is tried first: if it fails, no smaller one succeeds. */
    uint chosen = varying, moves = vary, low = 0;
    const uint last = open ? 31 - clz(open) : 0;
    for (uint tried = last; open != 0; tried = 31 - clz(open & -open)) {
        open &= ~(1u << tried);
        uint kept = varying;
        for (uint dropped = tried; dropped < vary; dropped++)
            kept &= kept - 1; /* the lowest one */
        uint lowest = 0;
        while (!(kept >> lowest & 1))
            lowest++;
        const uint shift = PLANNED_SHIFT(digits[lowest]);

        for (uint i = item; i < TABLE; i += PLAN_SIZE)
            table[i] = 0;
        if (item == 0)
            repeated = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        /* The last key in each table slot stays there; other keys with the same prefix are repeats. */
#pragma unroll
        for (uint k = 0; k < SAMPLE_KEYS; k++) {
            const uint i = k * PLAN_SIZE + item;
            if (i < sampled) {
                words[i] = prefix_word((ulong)codes[k] >> shift);
                atomic_max(&table[words[i] & (TABLE - 1)], i);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint own = 0;
#pragma unroll
        for (uint k = 0; k < SAMPLE_KEYS; k++) {
            const uint i = k * PLAN_SIZE + item;
            if (i < sampled) {
                const uint there = table[words[i] & (TABLE - 1)];
                own += there != i && words[there] == words[i];
            }
        }
        if (own > 0)
            atomic_add(&repeated, own);
        barrier(CLK_LOCAL_MEM_FENCE);
        const bool tells = repeated <= repeats;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (tells) {
            chosen = kept;
            moves = tried;
            low = shift;
        }
        if (tells != (tried == last))
            break;
    }

    if (item == 0) {
        /* At least one pass must move the keys to the output, and the number of passes must have the required
         * parity. A pass by a constant digit only copies. */
        for (uint number = 0; number < passes && (moves == 0 || (low == 0 && !ends_right(moves, parity))); number++) {
            if (!(chosen >> number & 1)) {
                chosen |= 1u << number;
                moves++;
            }
        }
        plan[PLAN_FIRST] = passes - moves;
        plan[PLAN_LOW] = low;
        uint pass = passes - moves;
        for (uint number = 0; number < passes; number++)
            if (chosen >> number & 1)
                plan[PLAN_DIGITS + pass++] = digits[number];
    }
}

/* Keys of a tile of hybrid_finish, and keys on either side that its group also reads. */
#define FINISH_TILE (FINISH_SIZE * FINISH_KEYS)
#define FINISH_MARGIN 32
#define FINISH_WINDOW (FINISH_TILE + 2 * FINISH_MARGIN)
#define HEAD_WORDS (FINISH_WINDOW / 32)
#if FINISH_TILE % 32 != 0
# error "FINISH_SIZE and FINISH_KEYS: their product must be a multiple of 32"
#endif

/* The 32 bits of a code that follow the prefix: they nearly always separate the keys of a bucket. */
INLINE uint word_behind(code_t code, uint low)
{
    return low > 32 ? (uint)(code >> (low - 32)) : (uint)(code << (32 - low));
}

/* Sets bit i of `heads` if a bucket begins there. @pre called by 32 neighbours, for neighbouring bits */
INLINE void set_head(volatile __local uint *heads, uint i, bool begins)
{
#if INLINE_PTX
    uint all;
    asm volatile("{ .reg .pred begins; setp.ne.u32 begins, %1, 0; vote.sync.ballot.b32 %0, begins, 0xffffffff; }"
                 : "=r"(all)
                 : "r"((uint)begins));
    if (i % 32 == 0)
        heads[i / 32] = all;
#else
    if (begins)
        atomic_or(&heads[i / 32], 1u << i % 32);
#endif
}

/* Reads key i of the window, and stores what other work-items need to know about it. */
INLINE void see_key(__global const key_t *keys, uint seen_from, uint i, uint n, uint low, __local uint *words,
                    __local uint *heads)
{
    /* The window may extend beyond both ends of the array. */
    const int at = (int)(seen_from + i) - FINISH_MARGIN;
    bool begins = at <= 0 || at >= (int)n;
    if (at >= 0 && at < (int)n) {
        const code_t code = keys[at];
        begins = begins || !same_prefix(keys[at - 1], code, low);
        words[i] = word_behind(code, low);
    }
    set_head(heads, i, begins);
}

/* Orders the keys, which are sorted by the bits from plan[PLAN_LOW] on, by all bits, stably.
 * @param list  receives the start and end of each bucket that is left out */
__kernel __attribute__((reqd_work_group_size(FINISH_SIZE, 1, 1))) void hybrid_finish(
    __global const key_t *restrict keys_in, __global key_t *restrict keys_out,
#if HAS_VALUES
    __global const value_t *restrict values_in, __global value_t *restrict values_out,
#endif
    __global uint *restrict plan, __global uint2 *restrict list, uint n, codec_t codec, uint flags)
{
    __local uint words[FINISH_WINDOW], heads[HEAD_WORDS];
    const uint item = (uint)get_local_id(0), low = plan[PLAN_LOW];
    if (low == 0)
        return;
    for (uint start = (uint)get_group_id(0) * FINISH_TILE; start < n; start += (uint)get_num_groups(0) * FINISH_TILE) {
#if !INLINE_PTX
        for (uint i = item; i < HEAD_WORDS; i += FINISH_SIZE)
            heads[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (uint i = item; i < FINISH_WINDOW; i += FINISH_SIZE)
            see_key(keys_in, start, i, n, low, words, heads);
        barrier(CLK_LOCAL_MEM_FENCE);

        const uint end = min(n, start + FINISH_TILE);
        for (uint at = start + item; at < end; at += FINISH_SIZE) {
            const code_t code = keys_in[at];
            const uint seen = at - start + FINISH_MARGIN, word = words[seen];
            /* The bucket, as indices of the window. */
            const uint up_to = 0xffffffffu >> (31 - seen % 32);
            uint first = seen / 32, last = first;
            uint before = heads[first] & up_to, behind = heads[last] & ~up_to;
            while (before == 0 && first > 0)
                before = heads[--first];
            while (behind == 0 && last + 1 < HEAD_WORDS)
                behind = heads[++last];
            first = first * 32 + 31 - clz(before);
            last = last * 32 + 31 - clz(behind & -behind);
            uint bucket = start + first - FINISH_MARGIN, length = last - first;
            uint smaller = 0;
            if (before != 0 && behind != 0) {
                if (length > 1 && length <= BUCKET) {
                    uint no_larger = 0;
                    for (uint i = first; i < last; i++) {
                        const uint other = words[i];
                        smaller += other < word;
                        no_larger += other <= word;
                    }
                    if (no_larger - smaller > 1)
                        smaller = keys_before(keys_in, bucket, length, at, code);
                }
            } else {
                /* It begins or ends outside of the window. */
                bucket = bucket_begin(keys_in, at, code, low);
                length = bucket_end(keys_in, at + 1, n, code, low) - bucket;
                if (length <= BUCKET)
                    smaller = keys_before(keys_in, bucket, length, at, code);
            }
            if (length > BUCKET) {
                if (bucket == at)
                    list[atomic_inc(&plan[PLAN_LISTED])] = (uint2)(bucket, bucket + length);
                continue;
            }
            keys_out[bucket + smaller] = flags & FLAG_DECODE ? decode_key(code, codec) : (key_t)code;
#if HAS_VALUES
            values_out[bucket + smaller] = values_in[at];
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
