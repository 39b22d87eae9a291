/* CUB's radix sort, to be compared with: times DeviceRadixSort on the keys of a file.
 *
 *     nvcc -O3 -arch=native scripts/peers/cub.cu -o cub
 *     ./cub KEY_BITS VALUE_BYTES FILE REPEATS
 *
 * Keys are unsigned, 32 or 64 bits; values are positions of 0 (none), 4 or 8 bytes. Prints one line of JSON: medians
 * in milliseconds, between CUDA events, of sorts whose number of keys is passed as int and as size_t: the two take
 * different kernels, and either can be the faster one. `queued`: the same while the device has other work before, so
 * that it never waits for the host.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
#include <cub/cub.cuh>

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

template <class T> T *device_array(const std::vector<T> &data)
{
    T *array;
    check(cudaMalloc(&array, std::max<size_t>(1, data.size()) * sizeof(T)));
    check(cudaMemcpy(array, data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice));
    return array;
}

struct Times {
    double alone, queued;
};

/* Memory whose filling keeps the device busy while the host enqueues a sort. */
constexpr size_t busy_bytes = size_t(1) << 28;

double median(std::vector<float> &times)
{
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

template <class Count, class Key, class Value>
Times median_ms(const std::vector<Key> &host_keys, bool pairs, int repeats)
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

    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    void *busy;
    check(cudaMalloc(&busy, busy_bytes));
    std::vector<float> alone, queued;
    for (int i = 0; i < 2 + 2 * repeats; i++) {
        check(cudaMemcpy(keys, source, host_keys.size() * sizeof(Key), cudaMemcpyDeviceToDevice));
        check(cudaDeviceSynchronize());
        const bool behind = i >= 2 + repeats;
        if (behind)
            check(cudaMemsetAsync(busy, i, busy_bytes));
        check(cudaEventRecord(begin));
        sort();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float ms;
        check(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 2) /* the first ones load code */
            (behind ? queued : alone).push_back(ms);
    }
    for (void *array :
         {(void *)source, (void *)keys, (void *)other_keys, (void *)values, (void *)other_values, scratch, busy})
        check(cudaFree(array));
    return {median(alone), median(queued)};
}

template <class Key, class Value> void report(const std::vector<Key> &keys, bool pairs, int repeats)
{
    const Times wide = median_ms<size_t, Key, Value>(keys, pairs, repeats);
    const Times narrow = keys.size() < (size_t(1) << 31) ? median_ms<int, Key, Value>(keys, pairs, repeats) : wide;
    std::printf("{\"int\": %.5f, \"size_t\": %.5f, \"queued\": {\"int\": %.5f, \"size_t\": %.5f}}\n", narrow.alone,
                wide.alone, narrow.queued, wide.queued);
}

template <class Key> void run(const char *file, int value_bytes, int repeats)
{
    std::FILE *stream = std::fopen(file, "rb");
    if (!stream) {
        std::perror(file);
        std::exit(1);
    }
    std::fseek(stream, 0, SEEK_END);
    std::vector<Key> keys(std::ftell(stream) / sizeof(Key));
    std::rewind(stream);
    if (std::fread(keys.data(), sizeof(Key), keys.size(), stream) != keys.size())
        std::exit(1);
    std::fclose(stream);
    if (value_bytes == 8)
        report<Key, uint64_t>(keys, true, repeats);
    else
        report<Key, uint32_t>(keys, value_bytes == 4, repeats);
}

int main(int argc, char **argv)
{
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
