/* Segmented sort for CPU devices: each work-group is one work-item. It repeatedly takes some segments and sorts
 * each alone, so that all work-items stay busy until no segment is left. Longer segments are cut into runs, which
 * all work-items sort together, one digit at a time.
 *
 *   serial_check    checks the offsets and cuts long segments
 *   serial_segments sorts the others: short ones in the lanes of vectors, 16 segments at a time; otherwise few keys by
 *                   insertion, and more by all digits of the radix
 *   serial_counts   counts one digit of each run
 *   serial_places   scans the counts of each segment that was cut
 *   serial_move     moves the keys of each run to their positions in the segment
 *
 *   RADIX_BITS  bits of a digit, 1 to 8
 *   INSERTED    most keys that are sorted by insertion
 */
#include "elements.clh"
#include "segments.clh"
#include "lane_sort.clh"

#ifndef RADIX_BITS
# error "RADIX_BITS: bits of a digit, set by src/algorithms/segments-serial.ts"
#endif
#ifndef INSERTED
# error "INSERTED: most keys that are sorted by insertion, set by src/algorithms/segments-serial.ts"
#endif
#define BINS (1 << RADIX_BITS)
#define DIGITS ((KEY_BITS + RADIX_BITS - 1) / RADIX_BITS)

#define SERIAL_KERNEL __kernel __attribute__((reqd_work_group_size(1, 1, 1)))

/* @param run_keys  most keys of a segment that is not cut */
SERIAL_KERNEL void serial_check(__global const uint *offsets, __global uint *state, __global uint2 *owners,
                                __global uint *result_words, uint at, uint segments, uint n, uint run_keys, uint runs)
{
    const uint items = (uint)get_global_size(0), item = (uint)get_global_id(0);
    const uint share = segments / items + (segments % items != 0);
    const uint begin = min((ulong)item * share, (ulong)segments), end = begin + min(share, segments - begin);
    for (uint s = begin; s < end; s++) {
        const segment_t segment = checked_segment(offsets, s, segments, n, state, result_words, at);
        if (segment.length > run_keys)
            cut_segment(s, segment.length, run_keys, state, owners, runs);
    }
}

/* Sorts few keys by insertion. */
INLINE void insert_keys(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                        __global const value_t *values, __global value_t *values_out, uint position,
#endif
                        uint length, uint begin, code_t mask, codec_t codec, uint flags)
{
    code_t codes[INSERTED]; /* their compared bits */
    key_t own[INSERTED];
#if HAS_VALUES
    value_t beside[INSERTED];
#endif
    for (uint i = 0; i < length; i++) {
        const key_t key = keys[i];
        const code_t code = (code_of(key, codec, flags) >> begin) & mask;
#if HAS_VALUES
        const value_t value = flags & FLAG_POSITIONS ? position_value(position + i) : values[i];
#endif
        uint at = i;
        for (; at > 0 && codes[at - 1] > code; at--) {
            codes[at] = codes[at - 1];
            own[at] = own[at - 1];
#if HAS_VALUES
            beside[at] = beside[at - 1];
#endif
        }
        codes[at] = code;
        own[at] = key;
#if HAS_VALUES
        beside[at] = value;
#endif
    }
    for (uint i = 0; i < length; i++) {
        keys_out[i] = own[i];
#if HAS_VALUES
        values_out[i] = beside[i];
#endif
    }
}

/* Sorts the keys of a segment by one digit after the other; digits that all keys share are skipped. Codes and
 * values alternate between two halves of the work-item's part of the scratch, which stays in its core's cache.
 * @param room  elements of a half */
INLINE void sort_segment(__global const key_t *keys, __global key_t *keys_out, __global key_t *codes,
#if HAS_VALUES
                         __global const value_t *values, __global value_t *values_out, __global value_t *beside,
                         uint position,
#endif
                         uint room, uint length, uint begin, code_t mask, codec_t codec, uint flags)
{
    uint counts[DIGITS][BINS];
    /* Simple loops, which CPU compilers vectorize. */
    if (flags & FLAG_ENCODE) {
        for (uint i = 0; i < length; i++)
            codes[i] = (key_t)encode_key(keys[i], codec);
    } else {
        for (uint i = 0; i < length; i++)
            codes[i] = keys[i];
    }
    for (uint digit = 0; digit < DIGITS; digit++)
        for (uint bin = 0; bin < BINS; bin++)
            counts[digit][bin] = 0;
    for (uint i = 0; i < length; i++) {
        const code_t code = ((code_t)codes[i] >> begin) & mask;
#pragma unroll
        for (uint digit = 0; digit < DIGITS; digit++)
            counts[digit][(uint)(code >> (digit * RADIX_BITS)) & (BINS - 1)]++;
    }
    __global const key_t *from = codes;
#if HAS_VALUES
    __global const value_t *values_from = values;
    bool made = (flags & FLAG_POSITIONS) != 0; /* the values are positions that have not been written yet */
#endif
    bool in_second = false;
    for (uint digit = 0; digit < DIGITS; digit++) {
        const uint shift = begin + digit * RADIX_BITS, digit_mask = (uint)(mask >> (digit * RADIX_BITS)) & (BINS - 1);
        uint *next = counts[digit];
        if (digit_mask == 0 || next[(uint)((code_t)from[0] >> shift) & digit_mask] == length)
            continue;
        uint sum = 0;
        for (uint bin = 0; bin < BINS; bin++) {
            const uint count = next[bin];
            next[bin] = sum;
            sum += count;
        }
        __global key_t *to = in_second ? codes : codes + room;
#if HAS_VALUES
        __global value_t *values_to = in_second ? beside : beside + room;
        if (made) {
            for (uint i = 0; i < length; i++) {
                const code_t code = from[i];
                const uint place = next[(uint)(code >> shift) & digit_mask]++;
                to[place] = (key_t)code;
                values_to[place] = position_value(position + i);
            }
        } else {
            for (uint i = 0; i < length; i++) {
                const code_t code = from[i];
                const uint place = next[(uint)(code >> shift) & digit_mask]++;
                to[place] = (key_t)code;
                values_to[place] = values_from[i];
            }
        }
        made = false;
        values_from = values_to;
#else
        for (uint i = 0; i < length; i++) {
            const code_t code = from[i];
            to[next[(uint)(code >> shift) & digit_mask]++] = (key_t)code;
        }
#endif
        from = to;
        in_second = !in_second;
    }
    if (flags & FLAG_DECODE) {
        for (uint i = 0; i < length; i++)
            keys_out[i] = decode_key(from[i], codec);
    } else {
        for (uint i = 0; i < length; i++)
            keys_out[i] = from[i];
    }
#if HAS_VALUES
    for (uint i = 0; i < length; i++)
        values_out[i] = made ? position_value(position + i) : values_from[i];
#endif
}

/* Fewest keys in 16 segments for which insertion is not faster. */
#define LANES_MIN_KEYS 48u

/* @return the average number of full lanes from which on sorting in lanes is faster than row by row */
INLINE uint full_lanes(uint longest)
{
    const uint steps = 32 - clz(longest - (longest > 0));
    return 2 * (max(steps, 7u) - 6);
}

#if HAS_VALUES
/* Copies the values of a batch: they are read and written in different orders, possibly in place.
 * @param room  of LANES rows */
INLINE row_values_t values_of_rows(__global const value_t *values, __global value_t *values_out, const rows_t *rows,
                                   __global value_t *room, uint flags)
{
    const row_values_t made = {room, values_out, rows->longest, (flags & FLAG_POSITIONS) != 0,
                               (flags & FLAG_FROM_SEGMENT) != 0};
    for (uint row = 0; row < LANES && !made.are_positions; row++)
        for (uint i = 0; i < rows->length[row]; i++)
            room[row * made.stride + i] = values[rows->first[row] + i];
    return made;
}
#endif

/* Sorts the short ones of the next segments in the lanes of vectors: the longest lengths that leave few lanes
 * empty.
 * @return the fewest keys of a segment that is still to be sorted; UINT_MAX if there is none */
INLINE uint sort_batch(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                       __global const value_t *values, __global value_t *values_out, __global value_t *beside,
#endif
                       __global const uint *offsets, uint s, uint stop, __global words_t *vectors, codec_t codec, uint flags)
{
    for (uint most = LANES_MAX_KEYS; most >= 8; most /= 8) {
        rows_t rows;
        uint all = 0, left = 0;
        rows.longest = 0;
        rows.shortest = most;
        for (uint lane = 0; lane < LANES; lane++) {
            const uint first = offsets[min(s + lane, stop)], length = offsets[min(s + lane + 1, stop)] - first;
            const uint own = length <= most ? length : 0;
            left += length > most;
            rows.first[lane] = first;
            rows.length[lane] = own;
            rows.longest = max(rows.longest, own);
            rows.shortest = min(rows.shortest, own);
            all += own;
        }
        if (all < max(LANES_MIN_KEYS, rows.longest * full_lanes(rows.longest)))
            continue;
#if HAS_VALUES
        const row_values_t batch_values = values_of_rows(values, values_out, &rows, beside, flags);
        sort_rows(keys, keys_out, &batch_values, &rows, vectors, codec, flags);
#else
        sort_rows(keys, keys_out, &rows, vectors, codec, flags);
#endif
        return left > 0 ? most + 1 : UINT_MAX;
    }
    return 1;
}

/* @param own_codes  two halves per work-item, which hold as many vectors as the longest short segment has keys
 * @param room       elements of a half: at least `run_keys`, and a multiple of the elements of a vector of 16 words
 * @param step       segments that a work-item takes at a time
 * @param mask       the window's bits of a code, after a right shift by `begin`; 0 for an empty window */
SERIAL_KERNEL void serial_segments(__global const key_t *keys, __global key_t *keys_out,
#if HAS_VALUES
                                   __global const value_t *values, __global value_t *values_out,
#endif
                                   __global key_t *own_codes,
#if HAS_VALUES
                                   __global value_t *own_values,
#endif
                                   __global const uint *offsets, __global uint *state, uint segments, uint step,
                                   uint run_keys, uint room, uint begin, code_t mask, codec_t codec, uint flags)
{
    const size_t own = (size_t)get_global_id(0) * 2 * room;
    __global words_t *vectors = (__global words_t *)(own_codes + own);
    const bool is_whole = begin == 0 && mask == CODE_MAX; /* equal codes are of equal keys */
    if (state[STATE_INVALID])
        return;
    for (;;) {
        const uint taken = atomic_add(&state[STATE_NEXT], step);
        if (taken >= segments)
            return;
        const uint stop = taken + min(step, segments - taken);
        uint fewest = 1; /* keys of a segment that is still to be sorted */
        for (uint s = taken; s < stop; s++) {
            if (is_whole && (s - taken) % LANES == 0) {
                fewest = sort_batch(keys, keys_out,
#if HAS_VALUES
                                    values, values_out, own_values + own,
#endif
                                    offsets, s, stop, vectors, codec, flags);
                if (fewest == UINT_MAX) {
                    s += LANES - 1;
                    continue;
                }
            }
            const uint first = offsets[s], length = offsets[s + 1] - first;
#if HAS_VALUES
            const uint position = flags & FLAG_FROM_SEGMENT ? 0 : first;
#endif
            if (length < fewest || length > run_keys)
                continue;
            if (length <= INSERTED)
                insert_keys(keys + first, keys_out + first,
#if HAS_VALUES
                            values + first, values_out + first, position,
#endif
                            length, begin, mask, codec, flags);
            else
                sort_segment(keys + first, keys_out + first, own_codes + own,
#if HAS_VALUES
                             values + first, values_out + first, own_values + own, position,
#endif
                             room, length, begin, mask, codec, flags);
        }
    }
}

/* @param counts  of each segment that is cut: [bin][run] */
SERIAL_KERNEL void serial_counts(__global const key_t *restrict keys, __global const uint *offsets,
                                 __global const uint *state, __global const uint2 *owners, __global uint *restrict counts,
                                 uint run_keys, uint shift, uint bits, codec_t codec, uint flags)
{
    const uint runs = state[STATE_INVALID] ? 0 : state[STATE_RUNS];
    for (uint r = (uint)get_global_id(0); r < runs; r += (uint)get_global_size(0)) {
        const run_t run = run_of(r, owners, offsets, run_keys, BINS);
        uint own[BINS];
        for (uint bin = 0; bin < BINS; bin++)
            own[bin] = 0;
        for (uint i = run.start; i < run.end; i++)
            own[code_digit(code_of(keys[i], codec, flags), shift, bits)]++;
        for (uint bin = 0; bin < BINS; bin++)
            counts[run.counts_at + (size_t)bin * run.of + run.number] = own[bin];
    }
}

/* @post counts are positions: keys of the segment that precede the first key of the bin and run */
SERIAL_KERNEL void serial_places(__global const uint *offsets, __global const uint *state, __global const uint2 *owners,
                                 __global uint *counts, uint run_keys)
{
    const uint runs = state[STATE_INVALID] ? 0 : state[STATE_RUNS];
    for (uint r = (uint)get_global_id(0); r < runs; r += (uint)get_global_size(0)) {
        const run_t run = run_of(r, owners, offsets, run_keys, BINS);
        if (run.number != 0)
            continue;
        __global uint *own = counts + run.counts_at;
        uint sum = 0;
        for (uint i = 0; i < run.of * BINS; i++) {
            const uint count = own[i];
            own[i] = sum;
            sum += count;
        }
    }
}

SERIAL_KERNEL void serial_move(__global const key_t *restrict keys, __global key_t *restrict keys_out,
#if HAS_VALUES
                               __global const value_t *restrict values, __global value_t *restrict values_out,
#endif
                               __global const uint *offsets, __global const uint *state, __global const uint2 *owners,
                               __global const uint *restrict counts, uint run_keys, uint shift, uint bits, codec_t codec,
                               uint flags)
{
    const uint runs = state[STATE_INVALID] ? 0 : state[STATE_RUNS];
    for (uint r = (uint)get_global_id(0); r < runs; r += (uint)get_global_size(0)) {
        const run_t run = run_of(r, owners, offsets, run_keys, BINS);
        uint next[BINS];
        for (uint bin = 0; bin < BINS; bin++)
            next[bin] = run.first + counts[run.counts_at + (size_t)bin * run.of + run.number];
        for (uint i = run.start; i < run.end; i++) {
            const code_t code = code_of(keys[i], codec, flags);
            const uint place = next[code_digit(code, shift, bits)]++;
            store_code(keys_out, place, code, codec, flags);
#if HAS_VALUES
            values_out[place] =
                flags & FLAG_POSITIONS ? position_value(i - (flags & FLAG_FROM_SEGMENT ? run.first : 0)) : values[i];
#endif
        }
    }
}
