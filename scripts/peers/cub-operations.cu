/* CUB's operations besides the sort of one array, to be compared with.
 *
 *     nvcc -O3 -arch=native scripts/peers/cub-operations.cu -o cub-operations
 *     ./cub-operations OPERATION KEY_BITS FOLDER REPEATS
 *
 * The folder holds `keys`, unsigned, of 32 or 64 bits, for segments also `offsets` of 32 bits, and what has to come out:
 * `expected.0`, and `expected.1` where there are two results. Prints one line of JSON: for each form in which CUB has the
 * operation whether its results are right, and medians in milliseconds between CUDA events, as scripts/peers/cub.cu has
 * them; `cub-operations --version` prints the version of CUB. Results are compared after the device was timed, too; wrong ones get no times.
 */
#include <functional>
#include <tuple>
#include <cub/cub.cuh>
#include <cuda/std/functional>
#if CUB_VERSION >= 300300
#include <cuda/iterator>
#include <cuda/std/execution>
#endif
#if CUB_VERSION >= 300600
#include <cub/device/device_batched_topk.cuh>
#include <cuda/argument>
#endif
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include "cub-timing.cuh"

/* An array on the device and the bytes that it must come to hold. */
struct Result {
    std::vector<char> expected;
    char *array;

    explicit Result(const std::string &file) : expected(read_file<char>(file))
    {
        check(cudaMalloc(&array, std::max<size_t>(16, expected.size())));
    }
    /* So that what an earlier form has left cannot pass for a result. */
    void poison() const
    {
        check(cudaMemset(array, 0xa5, expected.size()));
    }
    bool is_right() const
    {
        std::vector<char> made(expected.size());
        check(cudaMemcpy(made.data(), array, made.size(), cudaMemcpyDeviceToHost));
        return made == expected;
    }
};

/* Keys are in the lower half of all. */
template <class Key> struct Below {
    Key limit;
    __host__ __device__ bool operator()(const Key &key) const
    {
        return key < limit;
    }
};

/* The highest 8 bits. */
template <class Key> struct TopDigit {
    __host__ __device__ unsigned char operator()(const Key &key) const
    {
        return static_cast<unsigned char>(key >> (8 * sizeof(Key) - 8));
    }
};

/* The start of row i. */
template <class T> struct RowStart {
    T *begin;
    size_t length;
    __host__ __device__ T *operator()(size_t i) const
    {
        return begin + i * length;
    }
};

/* The start of each row of `length` elements. */
template <class T> auto row_starts(T *begin, size_t length)
{
    return thrust::make_transform_iterator(thrust::counting_iterator<size_t>(0), RowStart<T>{begin, length});
}

/* One form of an operation: asked twice by CUB's rule, first for the bytes of its scratch. */
using Form = std::function<cudaError_t(void *scratch, size_t &scratch_bytes)>;

template <class Key> class Operations
{
    const std::string folder;
    const int repeats;
    const std::vector<Key> host_keys;
    const size_t n;
    const Key *keys;
    std::vector<Result> results;
    /* Room that is as large as the keys, for results of which only the beginning is asked for. */
    void *room;
    /* How many were selected. */
    uint64_t *count;
    bool first = true;

    template <class T> T *result(int i)
    {
        return reinterpret_cast<T *>(results[i].array);
    }

    void time(const char *name, const Form &form, const std::function<void()> &finish = [] {})
    {
        void *scratch = nullptr;
        size_t scratch_bytes = 0;
        check(form(scratch, scratch_bytes));
        check(cudaMalloc(&scratch, std::max<size_t>(1, scratch_bytes)));
        const auto run = [&] { check(form(scratch, scratch_bytes)); };
        for (const Result &one : results)
            one.poison();
        check(cudaMemset(room, 0xa5, n * sizeof(Key)));
        run();
        const auto is_right = [&] {
            check(cudaDeviceSynchronize());
            finish();
            return std::all_of(results.begin(), results.end(), [](const Result &one) { return one.is_right(); });
        };
        bool ok = is_right();
        Times times{};
        if (ok) {
            times = median_ms([] {}, run, repeats);
            ok = is_right();
        }
        std::printf("%s\"%s\": ", first ? "" : ", ", name);
        if (ok)
            std::printf("{\"ok\": true, \"alone\": %.5f, \"queued\": %.5f}", times.alone, times.queued);
        else
            std::printf("{\"ok\": false}");
        first = false;
        check(cudaFree(scratch));
    }

    /* Counts are passed as int and as size_t, which takes different kernels; narrow ones only where n fits. */
    template <class Of> void time_counts(Of of)
    {
        if (n < (size_t(1) << 31))
            time("int", of(static_cast<int>(n)));
        time("size_t", of(n));
    }

    /* Copies the beginning of the room to where a result is looked for. */
    void take_room(int i)
    {
        check(cudaMemcpy(results[i].array, room, results[i].expected.size(), cudaMemcpyDeviceToDevice));
    }

  public:
    Operations(const std::string &where, int times)
        : folder(where), repeats(times), host_keys(read_file<Key>(where + "/keys")), n(host_keys.size()),
          keys(device_array(host_keys))
    {
        results.emplace_back(folder + "/expected.0");
        check(cudaMalloc(&room, std::max<size_t>(16, n * sizeof(Key))));
        check(cudaMalloc(&count, sizeof *count));
    }

    /* Exclusive, by sum. */
    void scan()
    {
        time_counts([&](auto items) -> Form {
            return [=](void *scratch, size_t &bytes) {
                return cub::DeviceScan::ExclusiveSum(scratch, bytes, keys, result<Key>(0), items);
            };
        });
    }

    /* Inclusive, by maximum. */
    void scan_max()
    {
        time_counts([&](auto items) -> Form {
            return [=](void *scratch, size_t &bytes) {
                return cub::DeviceScan::InclusiveScan(scratch, bytes, keys, result<Key>(0),
                                                      ::cuda::maximum<Key>{}, items);
            };
        });
    }

    /* Sums of 64 bits, whatever the keys have. */
    void reduce()
    {
        time_counts([&](auto items) -> Form {
            return [=](void *scratch, size_t &bytes) {
                return cub::DeviceReduce::Reduce(scratch, bytes, keys, result<uint64_t>(0), items,
                                                 ::cuda::std::plus<uint64_t>{}, uint64_t(0));
            };
        });
    }

    void reduce_max()
    {
        time_counts([&](auto items) -> Form {
            return [=](void *scratch, size_t &bytes) {
                return cub::DeviceReduce::Max(scratch, bytes, keys, result<Key>(0), items);
            };
        });
    }

    /* Keys by their highest 8 bits: as even bins, where the last edge is a number, and as digits. */
    void histogram()
    {
        const int items = static_cast<int>(n);
        if constexpr (sizeof(Key) == 4)
            time("even", [=](void *scratch, size_t &bytes) {
                return cub::DeviceHistogram::HistogramEven(scratch, bytes, keys, result<unsigned>(0), 257,
                                                           uint64_t(0), uint64_t(1) << 32, items);
            });
        const auto digits = thrust::make_transform_iterator(keys, TopDigit<Key>{});
        time("digits", [=](void *scratch, size_t &bytes) {
            return cub::DeviceHistogram::HistogramEven(scratch, bytes, digits, result<unsigned>(0), 257, 0, 256,
                                                       items);
        });
    }

    /* Keys of the lower half. */
    void filter()
    {
        const Below<Key> below{Key(1) << (8 * sizeof(Key) - 1)};
        time(
            "If",
            [=](void *scratch, size_t &bytes) {
                return cub::DeviceSelect::If(scratch, bytes, keys, static_cast<Key *>(room), count, n, below);
            },
            [=] { take_room(0); });
    }

    /* The first of each run of equal keys. */
    void unique()
    {
        time(
            "Unique",
            [=](void *scratch, size_t &bytes) {
                return cub::DeviceSelect::Unique(scratch, bytes, keys, static_cast<Key *>(room), count, n);
            },
            [=] { take_room(0); });
    }

    /* The same, and how long each run is. */
    void run_lengths()
    {
        results.emplace_back(folder + "/expected.1");
        unsigned *lengths;
        check(cudaMalloc(&lengths, std::max<size_t>(1, n) * sizeof *lengths));
        time(
            "Encode",
            [=](void *scratch, size_t &bytes) {
                return cub::DeviceRunLengthEncode::Encode(scratch, bytes, keys, static_cast<Key *>(room), lengths,
                                                          count, static_cast<int>(n));
            },
            [=] {
                take_room(0);
                check(cudaMemcpy(results[1].array, lengths, results[1].expected.size(), cudaMemcpyDeviceToDevice));
            });
        check(cudaFree(lengths));
    }

    /* Each segment by itself. */
    void segments()
    {
        const std::vector<unsigned> host_offsets = read_file<unsigned>(folder + "/offsets");
        const unsigned *offsets = device_array(host_offsets);
        const size_t all = host_offsets.size() - 1;
        time("DeviceSegmentedSort", [=](void *scratch, size_t &bytes) {
            return cub::DeviceSegmentedSort::SortKeys(scratch, bytes, keys, result<Key>(0), n, all, offsets,
                                                      offsets + 1);
        });
        time("DeviceSegmentedRadixSort", [=](void *scratch, size_t &bytes) {
            return cub::DeviceSegmentedRadixSort::SortKeys(scratch, bytes, keys, result<Key>(0),
                                                           static_cast<int>(n), static_cast<int>(all), offsets,
                                                           offsets + 1);
        });
    }

    /* The largest keys, in any order, alone and with their positions; the keys are sorted before they are compared. */
    void top_k()
    {
#if CUB_VERSION >= 300300
        const auto env = cuda::std::execution::env{
            cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                     cuda::execution::output_ordering::unsorted)};
        const unsigned k = static_cast<unsigned>(results[0].expected.size() / sizeof(Key));
        const unsigned items = static_cast<unsigned>(n);
        unsigned *positions;
        check(cudaMalloc(&positions, k * sizeof *positions));
        const auto finish = [=] {
            std::vector<Key> made(k);
            check(cudaMemcpy(made.data(), room, k * sizeof(Key), cudaMemcpyDeviceToHost));
            std::sort(made.begin(), made.end(), std::greater<Key>());
            check(cudaMemcpy(results[0].array, made.data(), k * sizeof(Key), cudaMemcpyHostToDevice));
        };
        Key *const found = static_cast<Key *>(room);
        time(
            "MaxKeys",
            [=](void *scratch, size_t &bytes) {
                return cub::DeviceTopK::MaxKeys(scratch, bytes, keys, found, items, k, env);
            },
            finish);
        time(
            "MaxPairs",
            [=](void *scratch, size_t &bytes) {
                return cub::DeviceTopK::MaxPairs(scratch, bytes, keys, found, cuda::counting_iterator<unsigned>(0),
                                                 positions, items, k, env);
            },
            finish);
        check(cudaFree(positions));
#endif
    }

    /* The k largest keys of each row, in any order, alone and with their positions within the row. The keys of a row are
     * sorted before they are compared. CUB knows the length of rows and a limit of k at compile time. */
    template <unsigned length> void top_rows([[maybe_unused]] unsigned k)
    {
#if CUB_VERSION >= 300600
        const auto env = cuda::std::execution::env{cuda::execution::require(
            cuda::execution::determinism::not_guaranteed, cuda::execution::tie_break::unspecified,
            cuda::execution::output_ordering::unsorted)};
        const size_t rows = n / length;
        unsigned *positions;
        check(cudaMalloc(&positions, rows * k * sizeof *positions));
        const auto finish = [=] {
            std::vector<Key> made(rows * k);
            check(cudaMemcpy(made.data(), room, made.size() * sizeof(Key), cudaMemcpyDeviceToHost));
            for (size_t row = 0; row < rows; row++)
                std::sort(made.begin() + row * k, made.begin() + (row + 1) * k, std::greater<Key>());
            check(cudaMemcpy(results[0].array, made.data(), made.size() * sizeof(Key), cudaMemcpyHostToDevice));
        };
        const cuda::args::constant<length> each{};
        const cuda::args::immediate first{k, cuda::args::bounds<1u, 2048u>()};
        const auto [from, to, where] =
            std::tuple{row_starts(keys, length), row_starts(static_cast<Key *>(room), k), row_starts(positions, k)};
        const auto index = cuda::make_constant_iterator(cuda::counting_iterator<unsigned>(0));
        time(
            "MaxKeys",
            [=, from = from, to = to](void *scratch, size_t &bytes) {
                return cub::DeviceBatchedTopK::MaxKeys(scratch, bytes, from, to, each, first, rows, env);
            },
            finish);
        time(
            "MaxPairs",
            [=, from = from, to = to, where = where](void *scratch, size_t &bytes) {
                return cub::DeviceBatchedTopK::MaxPairs(scratch, bytes, from, to, index, where, each, first, rows, env);
            },
            finish);
        check(cudaFree(positions));
#endif
    }

    /* @returns whether rows of that length are known */
    bool top_rows(unsigned length, unsigned k)
    {
        if (length == 256)
            top_rows<256>(k);
        else if (length == 4096)
            top_rows<4096>(k);
        else if (length == 65536)
            top_rows<65536>(k);
        else
            return false;
        return true;
    }

    /* @returns whether there is an operation of that name */
    bool run(const std::string &operation)
    {
        std::printf("{");
        if (operation == "scan")
            scan();
        else if (operation == "scanMax")
            scan_max();
        else if (operation == "reduce")
            reduce();
        else if (operation == "reduceMax")
            reduce_max();
        else if (operation == "histogram")
            histogram();
        else if (operation == "filter")
            filter();
        else if (operation == "unique")
            unique();
        else if (operation == "runLengths")
            run_lengths();
        else if (operation.rfind("topK", 0) == 0)
            top_k();
        else if (unsigned length = 0, k = 0; std::sscanf(operation.c_str(), "topRows-%u-%u", &length, &k) == 2) {
            if (!top_rows(length, k))
                return false;
        }
        else if (operation.rfind("segments", 0) == 0)
            segments();
        else
            return false;
        std::printf("}\n");
        return true;
    }
};

int main(int argc, char **argv)
{
    if (asks_version(argc, argv))
        return 0;
    if (argc != 5) {
        std::fprintf(stderr, "usage: cub-operations OPERATION KEY_BITS FOLDER REPEATS\n");
        return 2;
    }
    const std::string operation = argv[1];
    const int repeats = std::atoi(argv[4]);
    const bool known = std::atoi(argv[2]) == 64 ? Operations<uint64_t>(argv[3], repeats).run(operation)
                                                : Operations<uint32_t>(argv[3], repeats).run(operation);
    if (!known)
        std::fprintf(stderr, "no operation %s\n", operation.c_str());
    return known ? 0 : 2;
}
