/* What the programs that time CUB share: its version, checked calls, arrays on the device, and times between CUDA events. */
#ifndef CUB_TIMING_CUH
#define CUB_TIMING_CUH

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

/* Prints the version of CUB if the only argument is --version. */
inline bool asks_version(int argc, char **argv)
{
    if (argc != 2 || std::string(argv[1]) != "--version")
        return false;
    std::printf("%d.%d.%d\n", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    return true;
}

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

/* A new array on the device. */
template <class T> T *device_array(const std::vector<T> &data)
{
    T *array;
    check(cudaMalloc(&array, std::max<size_t>(1, data.size()) * sizeof(T)));
    check(cudaMemcpy(array, data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice));
    return array;
}

/* All elements of a file. */
template <class T> std::vector<T> read_file(const std::string &name)
{
    std::FILE *stream = std::fopen(name.c_str(), "rb");
    if (!stream) {
        std::perror(name.c_str());
        std::exit(1);
    }
    std::fseek(stream, 0, SEEK_END);
    std::vector<T> elements(std::ftell(stream) / sizeof(T));
    std::rewind(stream);
    const size_t read = std::fread(elements.data(), sizeof(T), elements.size(), stream);
    std::fclose(stream);
    if (read != elements.size()) {
        std::fprintf(stderr, "%s: ends early\n", name.c_str());
        std::exit(1);
    }
    return elements;
}

/* Medians in milliseconds: of work that the device gets when it has nothing to do, and behind other work. */
struct Times {
    double alone, queued;
};

/* Memory whose filling keeps the device busy while the host enqueues what is timed. */
constexpr size_t busy_bytes = size_t(1) << 28;

inline double median(std::vector<float> &times)
{
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

/* Times what `run` enqueues, each time after `prepare`. */
template <class Prepare, class Run> Times median_ms(Prepare prepare, Run run, int repeats)
{
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    void *busy;
    check(cudaMalloc(&busy, busy_bytes));
    std::vector<float> alone, queued;
    for (int i = 0; i < 2 + 2 * repeats; i++) {
        prepare();
        check(cudaDeviceSynchronize());
        const bool behind = i >= 2 + repeats;
        if (behind)
            check(cudaMemsetAsync(busy, i, busy_bytes));
        check(cudaEventRecord(begin));
        run();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float ms;
        check(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 2) /* the first ones load code */
            (behind ? queued : alone).push_back(ms);
    }
    check(cudaFree(busy));
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    return {median(alone), median(queued)};
}

#endif
