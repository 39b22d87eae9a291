/* The classic multi-kernel LSD radix sort, 8 bits per pass, as in AMD's OpenCL samples:
 *
 *   histogram      digit counts of each block of 256 keys               -> buckets
 *   ScanArraysdim2 for each bin, exclusive scan over runs of 64 blocks  -> scannedBuckets, sumBuffer
 *   prefixSum      for each bin, exclusive scan of its run totals       -> sumBuffer, binTotals
 *   blockAddition  add each run's prefix to its 64 blocks               -> scannedBuckets
 *   ScanArraysdim1 exclusive scan of the 256 bin totals                 -> binTotals
 *   fixOffset      add each bin's base                                  -> scannedBuckets
 *   permute        one group moves the keys of a block, each work-item a stretch of it
 *
 * With one run of blocks (16384 keys), prefixSum and blockAddition have nothing to add, and ScanArraysdim1 scans
 * sumBuffer directly: the scan of 3 kernels. Otherwise the scan takes all 5.
 *
 * The input is treated as padded to a multiple of 16384 keys: a key beyond n reads as the all-ones code. It has the
 * largest digit in every pass and comes after all real keys, so its output position is always beyond n and never
 * written. The tables are padded, the key buffers need not be.
 *
 * Set by src/algorithms/amd-radix.ts, besides the macros of common.clh:
 *   GROUP_SIZE  work-items of a group in every kernel, a power of two from 1 to 64
 */
#include "elements.clh"
#include "work_group_total.clh"

#if GROUP_SIZE > 64 || (GROUP_SIZE & (GROUP_SIZE - 1)) != 0
# error "GROUP_SIZE must be a power of two from 1 to 64"
#endif

#define RADIX 256
#define BLOCK 256 /* keys per block */
#define RUN 64    /* blocks per run */

/* @return the code of key i of the padded input */
INLINE code_t load_padded(__global const key_t *keys, size_t i, ulong n, codec_t codec, uint flags)
{
    return i < n ? code_of(keys[i], codec, flags) : CODE_MAX;
}

/* Counts the digits of one block per group.
 * @post buckets[block * 256 + bin] = keys of the block with that digit; each block sums to 256 */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void histogram(__global const key_t *keys, __global uint *buckets, ulong n, codec_t codec, uint flags, uint shift, uint bits)
{
    __local uint bins[RADIX];
    const uint lid = get_local_id(0);
    const size_t block = get_group_id(0);

    for (uint bin = lid; bin < RADIX; bin += GROUP_SIZE)
        bins[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = lid; k < BLOCK; k += GROUP_SIZE) {
        const code_t code = load_padded(keys, block * BLOCK + k, n, codec, flags);
        atomic_inc(&bins[code_digit(code, shift, bits)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = lid; bin < RADIX; bin += GROUP_SIZE)
        buckets[block * RADIX + bin] = bins[bin];
}

/* Hillis and Steele's scan along the blocks, for SCAN_BINS bins at once, so that table rows are read contiguously.
 * NDRange: dimension 0 the runs, dimension 1 the groups of SCAN_BINS bins.
 * @post scannedBuckets = exclusive scan over each run of 64 blocks, sumBuffer[bin * runs + run] = its total */
#define SCAN_BINS 16

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void ScanArraysdim2(__global const uint *buckets, __global uint *scannedBuckets, __global uint *sumBuffer)
{
    /* Two copies: a step reads one and writes the other. The odd row length avoids bank conflicts. */
    __local uint sums[2][SCAN_BINS * (RUN + 1)];
    const uint lid = get_local_id(0);
    const size_t run = get_group_id(0);
    const size_t runs = get_num_groups(0);
    const uint first_bin = get_group_id(1) * SCAN_BINS;
    const size_t first = run * RUN * RADIX + first_bin;

    for (uint i = lid; i < RUN * SCAN_BINS; i += GROUP_SIZE) {
        const uint block = i / SCAN_BINS, bin = i % SCAN_BINS;
        sums[0][bin * (RUN + 1) + block] = buckets[first + block * RADIX + bin];
    }
    uint from = 0;
    for (uint distance = 1; distance < RUN; distance <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = lid; i < RUN * SCAN_BINS; i += GROUP_SIZE) {
            const uint block = i % RUN, at = i / RUN * (RUN + 1) + block;
            const uint before = block >= distance ? sums[from][at - distance] : 0;
            sums[1 - from][at] = sums[from][at] + before;
        }
        from = 1 - from;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < RUN * SCAN_BINS; i += GROUP_SIZE) {
        const uint block = i / SCAN_BINS, bin = i % SCAN_BINS;
        scannedBuckets[first + block * RADIX + bin] = block > 0 ? sums[from][bin * (RUN + 1) + block - 1] : 0;
    }
    for (uint bin = lid; bin < SCAN_BINS; bin += GROUP_SIZE)
        sumBuffer[(first_bin + bin) * runs + run] = sums[from][bin * (RUN + 1) + RUN - 1];
}

/* Scans the run totals of one bin per group, GROUP_SIZE * SUMS_PER_ITEM of them at a time with a carry.
 * @post sumBuffer[bin * runs + run] = keys with this digit in earlier runs, binTotals[bin] = all of them */
#define SUMS_PER_ITEM 8

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void prefixSum(__global uint *sumBuffer, __global uint *binTotals, uint runs)
{
    __local uint sums[GROUP_SIZE];
    const uint lid = get_local_id(0);
    __global uint *row = sumBuffer + (size_t)get_group_id(0) * runs;
    uint carry = 0;

    for (uint tile = 0; tile < runs; tile += GROUP_SIZE * SUMS_PER_ITEM) {
        const uint first = tile + lid * SUMS_PER_ITEM;
        uint values[SUMS_PER_ITEM], sum = 0, total;
        for (uint i = 0; i < SUMS_PER_ITEM; i++) {
            values[i] = first + i < runs ? row[first + i] : 0;
            sum += values[i];
        }
        uint prefix = carry + work_group_scan_total(sum, sums, &total);
        for (uint i = 0; i < SUMS_PER_ITEM; i++) {
            if (first + i < runs)
                row[first + i] = prefix;
            prefix += values[i];
        }
        carry += total;
    }
    if (lid == 0)
        binTotals[get_group_id(0)] = carry;
}

/* Adds to every block the prefix of its run, four neighbouring bins per work-item. NDRange: dimension 0 the bins /
 * 4, dimension 1 the blocks.
 * @post scannedBuckets[block * 256 + bin] = keys with this digit in earlier blocks */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void blockAddition(__global uint4 *scannedBuckets, __global const uint *sumBuffer)
{
    const size_t bin = 4 * get_global_id(0), block = get_global_id(1);
    const size_t runs = get_global_size(1) / RUN;
    __global const uint *prefix = sumBuffer + bin * runs + block / RUN;
    scannedBuckets[block * (RADIX / 4) + get_global_id(0)] +=
        (uint4)(prefix[0], prefix[runs], prefix[2 * runs], prefix[3 * runs]);
}

/* Scans the 256 bin totals in place, in one group.
 * @post totals[bin] = keys with a smaller digit */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void ScanArraysdim1(__global uint *totals)
{
    __local uint sums[GROUP_SIZE];
    const uint lid = get_local_id(0);
    uint carry = 0;

    for (uint tile = 0; tile < RADIX; tile += GROUP_SIZE) {
        uint total;
        const uint prefix = work_group_scan_total(totals[tile + lid], sums, &total);
        totals[tile + lid] = carry + prefix;
        carry += total;
    }
}

/* Adds to every block the bases of its bins, four neighbouring bins per work-item. NDRange: dimension 0 the bins /
 * 4, dimension 1 the blocks.
 * @post scannedBuckets[block * 256 + bin] = position of the block's first key with this digit */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void fixOffset(__global uint4 *scannedBuckets, __global const uint4 *binTotals)
{
    const size_t bins = get_global_id(0), block = get_global_id(1);
    scannedBuckets[block * (RADIX / 4) + bins] += binTotals[bins];
}

/* Moves the keys (and values) of one block per group: each work-item processes its own stretch of the block in
 * order, which keeps the sort stable.
 *
 * A position is the block's base, a 32-bit word that fixOffset stored in global memory, plus the number of
 * preceding keys with that digit in the block. Only that number is kept in local memory, per work-item and digit:
 * it is below 256 whenever it is read, so a byte suffices. The work-items first count their stretches, then scan
 * four digits at a time over the work-items, then process their stretches again. Neighbouring groups write
 * neighbouring positions at about the same time, so the memory system can combine whole lines.
 */
#define STRETCH (BLOCK / GROUP_SIZE)
#define COUNTER_WORDS (RADIX / 4)

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void permute(__global const key_t *restrict keys, __global key_t *restrict keys_out,
             __global const uint *restrict scannedBuckets,
#if HAS_VALUES
             __global const value_t *restrict values, __global value_t *restrict values_out,
#endif
             ulong n, codec_t codec, uint flags, uint shift, uint bits)
{
    __local uint counters[GROUP_SIZE * COUNTER_WORDS];
    const uint lid = get_local_id(0);
    const size_t block = get_group_id(0);
    const size_t first = block * BLOCK + lid * STRETCH;
    __global const uint *bases = scannedBuckets + block * RADIX;
    __local uchar *running = (__local uchar *)(counters + lid * COUNTER_WORDS);
    code_t codes[STRETCH];

    for (uint i = lid; i < GROUP_SIZE * COUNTER_WORDS; i += GROUP_SIZE)
        counters[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < STRETCH; k++) {
        codes[k] = load_padded(keys, first + k, n, codec, flags);
        running[code_digit(codes[k], shift, bits)]++;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Bytes are added four per word. A byte that reaches 256 would carry into the next one. Only a block of one
     * digit can reach it, with its last work-item, and no sum after that is read. */
    for (uint word = lid; word < COUNTER_WORDS; word += GROUP_SIZE) {
        uint sum = 0;
        for (uint item = 0; item < GROUP_SIZE; item++) {
            const uint count = counters[item * COUNTER_WORDS + word];
            counters[item * COUNTER_WORDS + word] = sum;
            sum += count;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < STRETCH; k++) {
        const size_t from = first + k;
        const uint digit = code_digit(codes[k], shift, bits);
        const size_t to = (size_t)bases[digit] + running[digit]++;
        if (from >= n)
            continue;
        store_code(keys_out, to, codes[k], codec, flags);
#if HAS_VALUES
        values_out[to] = load_value(values, from, flags);
#endif
    }
}
