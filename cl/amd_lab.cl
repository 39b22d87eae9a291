/* Two kernels of the classic pipeline in their usual form, for comparison with those in amd_radix.cl: clsort bench
 * ladder. */
#include "amd_radix.cl"

/* Scans along the blocks for one bin per group: every work-item reads one word of its own row of the table.
 * NDRange: dimension 0 the runs, dimension 1 the bins.
 * @post as ScanArraysdim2 */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void ScanArraysdim2_one_bin(__global const uint *buckets, __global uint *scannedBuckets, __global uint *sumBuffer)
{
    __local uint sums[2][RUN];
    const uint lid = get_local_id(0);
    const size_t run = get_group_id(0), runs = get_num_groups(0), bin = get_group_id(1);
    const size_t first = run * RUN * RADIX + bin;

    for (uint block = lid; block < RUN; block += GROUP_SIZE)
        sums[0][block] = buckets[first + block * RADIX];
    uint from = 0;
    for (uint distance = 1; distance < RUN; distance <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint block = lid; block < RUN; block += GROUP_SIZE)
            sums[1 - from][block] = sums[from][block] + (block >= distance ? sums[from][block - distance] : 0);
        from = 1 - from;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint block = lid; block < RUN; block += GROUP_SIZE)
        scannedBuckets[first + block * RADIX] = block > 0 ? sums[from][block - 1] : 0;
    if (lid == 0)
        sumBuffer[bin * runs + run] = sums[from][RUN - 1];
}

/* A group moves as many blocks as it has work-items, one block per work-item: reads of neighbours are 256 keys
 * apart. */
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void permute_blocks(__global const key_t *keys, __global key_t *keys_out, __global const uint *scannedBuckets, ulong n,
                    codec_t codec, uint flags, uint shift, uint bits)
{
    __local uint counters[GROUP_SIZE * COUNTER_WORDS];
    const uint lid = get_local_id(0);
    const size_t block = get_global_id(0);
    __global const uint *bases = scannedBuckets + block * RADIX;
    __local uchar *running = (__local uchar *)(counters + lid * COUNTER_WORDS);

    for (uint i = lid; i < GROUP_SIZE * COUNTER_WORDS; i += GROUP_SIZE)
        counters[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < BLOCK; k++) {
        const code_t code = load_padded(keys, block * BLOCK + k, n, codec, flags);
        const uint digit = code_digit(code, shift, bits);
        const size_t to = (size_t)bases[digit] + running[digit]++;
        if (block * BLOCK + k < n)
            store_code(keys_out, to, code, codec, flags);
    }
}
