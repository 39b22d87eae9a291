/* Radix sort for CPU devices: each work-group is one work-item, which owns one contiguous run of the array and
 * works alone, with counters in private memory: no barriers, no atomics. Scattered keys are first gathered in
 * lines, one per bin, which are written to memory when full: a core's cache holds hundreds of short lines, but not
 * the pages of hundreds of output positions.
 *
 *   serial_count    counts the digits of each run; the first pass also determines in which bits codes differ, and
 *                   whether they are in order already
 *   serial_scan     one work-item scans the counts of all runs; the first pass also plans the passes
 *   serial_scatter  moves the keys of each run to their positions
 *   serial_settle   moves elements to the output if they are not there after the last pass, or reverses them
 *
 *   RADIX_BITS   bits of a digit, 1 to 12
 *   LINES        0: each key is written at once, for arrays that fit a core's cache
 *   OFFSET_BITS  32: fewer than 2^32 keys; 64: any number
 */
#include "elements.clh"
#include "order.clh"
#include "pass_plan.clh"

#ifndef RADIX_BITS
# error "RADIX_BITS: bits of a digit, set by src/algorithms/serial-radix.ts"
#endif
#if RADIX_BITS < 1 || RADIX_BITS > 12
# error "RADIX_BITS must be 1 to 12"
#endif
#define BINS (1 << RADIX_BITS)
#ifndef LINES
# error "LINES: 1 or 0, set by src/algorithms/serial-radix.ts"
#endif

#if OFFSET_BITS == 32
typedef uint offset_t;
#elif OFFSET_BITS == 64
typedef ulong offset_t;
#else
# error "OFFSET_BITS must be 32 (fewer than 2^32 keys) or 64"
#endif

/* The three key arrays, and the three value arrays if there are values. */
#if HAS_VALUES
# define ARRAYS                                                                                               \
    __global key_t *input, __global key_t *output, __global key_t *alternate, __global value_t *input_values, \
        __global value_t *output_values, __global value_t *alternate_values
#else
# define ARRAYS __global key_t *input, __global key_t *output, __global key_t *alternate
#endif

/* @param counts     [bin][run]
 * @param differing  written by the first pass, [run]: bits in which codes of the run differ from the first code of
 *                   all, then the kinds of pairs of its codes and their predecessors, see order.clh
 * @param turns      the planned passes: read by the other passes
 * @param shift      of the first pass's digit
 * @param bits       of the first pass's digit */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void serial_count(__global key_t *input, __global key_t *output, __global key_t *alternate,
                  __global offset_t *restrict counts, __global ulong *restrict differing,
                  __global const planned_pass_t *restrict turns, ulong n, ulong run_keys, uint pass, uint shift, uint bits,
                  uint begin_bit, uint end_bit, codec_t codec, uint sort)
{
    const size_t run = get_global_id(0), runs = get_global_size(0);
    const size_t start = min(run * run_keys, n), end = min(start + run_keys, n);
    offset_t bins[BINS];
    if (pass > 0 && turns[pass].does != PASS_SORT)
        return;
    for (uint bin = 0; bin < BINS; bin++)
        bins[bin] = 0;
    if (pass == 0) {
        const code_t first = code_of(input[0], codec, sort);
        code_t differ = 0;
        order_t order = unknown_order(begin_bit, end_bit, (sort & FLAG_ORDER) != 0);
        size_t i = start;
        /* Random codes soon end this loop. */
        code_t before = i < end && i > 0 ? code_of(input[i - 1], codec, sort) : first;
        for (; i < end && order.seen != IN_NO_ORDER; i++) {
            const code_t code = code_of(input[i], codec, sort);
            if (i > 0)
                order.seen |= seen_pair(compared_bits(order, before), compared_bits(order, code));
            before = code;
            differ |= code ^ first;
            bins[code_digit(code, shift, bits)]++;
        }
        for (; i < end; i++) {
            const code_t code = code_of(input[i], codec, sort);
            differ |= code ^ first;
            bins[code_digit(code, shift, bits)]++;
        }
        differing[run] = differ;
        differing[runs + run] = order.seen;
    } else {
        __global const key_t *keys = ARRAY_AT(turns[pass].keys_from, input, output, alternate);
        const planned_pass_t turn = turns[pass];
        for (size_t i = start; i < end; i++)
            bins[code_digit(code_of(keys[i], codec, turn.flags), turn.shift, turn.bits)]++;
    }
    for (uint bin = 0; bin < BINS; bin++)
        counts[bin * runs + run] = bins[bin];
}

/* Exclusive scan of all counts, in place.
 *
 * @param digits      of the window [begin, end)
 * @param sort        see pass_plan.clh
 */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void serial_scan(__global offset_t *restrict counts, uint entries, __global const ulong *restrict differing, uint runs,
                 __global planned_pass_t *restrict turns, uint pass, uint digits, uint begin, uint end, uint sort)
{
    if (pass == 0) {
        ulong differ = 0;
        uint seen = 0;
        for (uint run = 0; run < runs; run++) {
            differ |= differing[run];
            seen |= (uint)differing[runs + run];
        }
        if (seen != IN_NO_ORDER)
            plan_move(turns, digits, IS_REVERSED(seen), sort);
        else
            plan_passes(turns, digits, begin, end, differ, sort);
    }
    if (turns[pass].does != PASS_SORT)
        return;
    offset_t sum = 0;
    for (uint i = 0; i < entries; i++) {
        const offset_t count = counts[i];
        counts[i] = sum;
        sum += count;
    }
}

#if LINES
/* Elements per line: the shorter of key and value fills 64 bytes, a cache line of all current CPUs. */
#if HAS_VALUES && VALUE_BYTES * 8 < KEY_BITS
# define LINE (64 / VALUE_BYTES)
#else
# define LINE (512 / KEY_BITS)
#endif
#define VECTORS(element) (LINE * sizeof(element) / sizeof(uint16))

/* Writes one full line past the caches, which would not reuse it; `place` is aligned. */
#ifdef __has_builtin
# if __has_builtin(__builtin_nontemporal_store)
#  define STREAM(value, place) __builtin_nontemporal_store(value, place)
# endif
#endif
#ifndef STREAM
# define STREAM(value, place) (*(place) = (value))
#endif

/* Writes elements [first, last) of the output from their line. */
#define WRITE_LINE(element, line, output, first, last)             \
    do {                                                           \
        __global element *to = (output) + (first);                 \
        if ((last) - (first) == LINE && ((size_t)to & 63) == 0) {  \
            for (uint v = 0; v < VECTORS(element); v++)            \
                STREAM((line)[v], (__global uint16 *)to + v);      \
        } else {                                                   \
            for (offset_t i = (first); i < (last); i++)            \
                (output)[i] = ((const element *)(line))[i % LINE]; \
        }                                                          \
    } while (0)
#endif

/* @param places  position of the first key of each bin and run, [bin][run] */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void serial_scatter(ARRAYS, __global const offset_t *restrict places, __global const planned_pass_t *restrict turns, ulong n,
                    ulong run_keys, uint pass, codec_t codec)
{
    const size_t run = get_global_id(0), runs = get_global_size(0);
    const size_t start = min(run * run_keys, n), end = min(start + run_keys, n);
    const planned_pass_t turn = turns[pass];
    const uint flags = turn.flags, shift = turn.shift, bits = turn.bits;
    __global const key_t *keys_in = ARRAY_AT(turn.keys_from, input, output, alternate);
    __global key_t *keys_out = ARRAY_AT(turn.keys_to, input, output, alternate);
#if HAS_VALUES
    __global const value_t *values_in = ARRAY_AT(turn.values_from, input_values, output_values, alternate_values);
    __global value_t *values_out = ARRAY_AT(turn.values_to, input_values, output_values, alternate_values);
#endif
    if (turn.does != PASS_SORT)
        return;
#if LINES
    /* Per bin: the position of its next key, and of its first key that is still in a line. */
    offset_t next[BINS], waiting[BINS];
    uint16 key_lines[BINS * VECTORS(key_t)];
#if HAS_VALUES
    uint16 value_lines[BINS * VECTORS(value_t)];
#endif
    /* A host array may start anywhere. It is treated as starting at a line, so positions are higher by the
     * difference. */
    const uint ahead = (uint)((size_t)keys_out % 64 / sizeof(key_t));
    keys_out -= ahead;
#if HAS_VALUES
    values_out -= ahead;
#endif
    for (uint bin = 0; bin < BINS; bin++)
        next[bin] = waiting[bin] = places[bin * runs + run] + ahead;

    for (size_t i = start; i < end; i++) {
        const code_t code = code_of(keys_in[i], codec, flags);
        const uint bin = code_digit(code, shift, bits);
        const offset_t place = next[bin]++;
        const uint slot = bin * LINE + place % LINE;
        ((key_t *)key_lines)[slot] = key_of(code, codec, flags);
#if HAS_VALUES
        ((value_t *)value_lines)[slot] = load_value(values_in, i, flags);
#endif
        if (place % LINE == LINE - 1) {
            const offset_t first = waiting[bin];
            WRITE_LINE(key_t, key_lines + bin * VECTORS(key_t), keys_out, first, place + 1);
#if HAS_VALUES
            WRITE_LINE(value_t, value_lines + bin * VECTORS(value_t), values_out, first, place + 1);
#endif
            waiting[bin] = place + 1;
        }
    }

    for (uint bin = 0; bin < BINS; bin++) {
        WRITE_LINE(key_t, key_lines + bin * VECTORS(key_t), keys_out, waiting[bin], next[bin]);
#if HAS_VALUES
        WRITE_LINE(value_t, value_lines + bin * VECTORS(value_t), values_out, waiting[bin], next[bin]);
#endif
    }
#else
    offset_t next[BINS]; /* per bin: the position of its next key */
    for (uint bin = 0; bin < BINS; bin++)
        next[bin] = places[bin * runs + run];
    for (size_t i = start; i < end; i++) {
        const code_t code = code_of(keys_in[i], codec, flags);
        const offset_t place = next[code_digit(code, shift, bits)]++;
        keys_out[place] = key_of(code, codec, flags);
#if HAS_VALUES
        values_out[place] = load_value(values_in, i, flags);
#endif
    }
#endif
}

/* Reverses elements [low, high) of the first half of an array, and those that they change places with. */
#define REVERSE(element, from, to, n, low, high)                  \
    for (size_t i = (low); i < (high); i++) {                     \
        const element one = (from)[i], other = (from)[n - 1 - i]; \
        (to)[i] = other;                                          \
        (to)[n - 1 - i] = one;                                    \
    }

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void serial_settle(ARRAYS, __global const planned_pass_t *restrict turns, ulong n, ulong run_keys, uint pass)
{
    const size_t run = get_global_id(0);
    const size_t start = min(run * run_keys, n), end = min(start + run_keys, n);
    const size_t pairs = n - n / 2, share = run_keys - run_keys / 2;
    const size_t low = min(run * share, pairs), high = min(low + share, pairs);
    const planned_pass_t turn = turns[pass];
    const bool reverses = turn.does == PASS_REVERSE;
    __global const key_t *keys = ARRAY_AT(turn.keys_from, input, output, alternate);
    if (reverses) {
        REVERSE(key_t, keys, output, n, low, high)
    } else if (turn.keys_from != turn.keys_to) {
        for (size_t i = start; i < end; i++)
            output[i] = keys[i];
    }
#if HAS_VALUES
    __global const value_t *values = ARRAY_AT(turn.values_from, input_values, output_values, alternate_values);
    if (reverses && !(turn.flags & FLAG_POSITIONS)) {
        REVERSE(value_t, values, output_values, n, low, high)
    } else if (reverses) {
        for (size_t i = start; i < end; i++)
            output_values[i] = position_value(n - 1 - i);
    } else if (turn.values_from != turn.values_to || (turn.flags & FLAG_POSITIONS)) {
        for (size_t i = start; i < end; i++)
            output_values[i] = load_value(values, i, turn.flags);
    }
#endif
}
