/* CUB's radix sort, to be compared with: times DeviceRadixSort on the keys of a file.
 *
 *     nvcc -O3 -arch=native scripts/peers/cub.cu -o cub
 *     ./cub KEY_BITS VALUE_BYTES FILE REPEATS
 *
 * Keys are unsigned, 32 or 64 bits; values are positions of 0 (none), 4 or 8 bytes. Prints one line of JSON: medians
 * in milliseconds, between CUDA events, of sorts whose number of keys is passed as int and as size_t: the two take
 * different kernels, and either can be the faster one. `queued`: the same while the device has other work before, so
 * that it never waits for the host. `cub --version` prints the version of CUB.
 */
#include <numeric>
#include <cub/cub.cuh>
#include "cub-timing.cuh"

template <class Count, class Key, class Value>
Times sort_ms(const std::vector<Key> &host_keys, bool pairs, int repeats)
{
    const Count n = static_cast<Count>(host_keys.size());
    std::vector<Value> positions(pairs ? host_keys.size() : 0);
    std::iota(positions.begin(), positions.end(), Value(0));
    Key *source = device_array(host_keys), *keys = device_array(host_keys), *other_keys = device_array(host_keys);
    Value *values = device_array(positions), *other_values = device_array(positions);

    void *scratch = nullptr;
    size_t scratch_bytes = 0;
    const auto sort = [&] {
        cub::DoubleBuffer<Key> key_buffers(keys, other_keys);
        cub::DoubleBuffer<Value> value_buffers(values, other_values);
        check(pairs ? cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, key_buffers, value_buffers, n)
                    : cub::DeviceRadixSort::SortKeys(scratch, scratch_bytes, key_buffers, n));
    };
    sort();
    check(cudaMalloc(&scratch, scratch_bytes));

    const auto restore = [&] {
        check(cudaMemcpy(keys, source, host_keys.size() * sizeof(Key), cudaMemcpyDeviceToDevice));
    };
    const Times times = median_ms(restore, sort, repeats);
    for (void *array :
         {(void *)source, (void *)keys, (void *)other_keys, (void *)values, (void *)other_values, scratch})
        check(cudaFree(array));
    return times;
}

template <class Key, class Value> void report(const std::vector<Key> &keys, bool pairs, int repeats)
{
    const Times wide = sort_ms<size_t, Key, Value>(keys, pairs, repeats);
    const Times narrow = keys.size() < (size_t(1) << 31) ? sort_ms<int, Key, Value>(keys, pairs, repeats) : wide;
    std::printf("{\"int\": %.5f, \"size_t\": %.5f, \"queued\": {\"int\": %.5f, \"size_t\": %.5f}}\n", narrow.alone,
                wide.alone, narrow.queued, wide.queued);
}

template <class Key> void run(const char *file, int value_bytes, int repeats)
{
    const std::vector<Key> keys = read_file<Key>(file);
    if (value_bytes == 8)
        report<Key, uint64_t>(keys, true, repeats);
    else
        report<Key, uint32_t>(keys, value_bytes == 4, repeats);
}

int main(int argc, char **argv)
{
    if (asks_version(argc, argv))
        return 0;
    if (argc != 5) {
        std::fprintf(stderr, "usage: cub KEY_BITS VALUE_BYTES FILE REPEATS\n");
        return 2;
    }
    const int value_bytes = std::atoi(argv[2]), repeats = std::atoi(argv[4]);
    if (std::atoi(argv[1]) == 64)
        run<uint64_t>(argv[3], value_bytes, repeats);
    else
        run<uint32_t>(argv[3], value_bytes, repeats);
    return 0;
}
