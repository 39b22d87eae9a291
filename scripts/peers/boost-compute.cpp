/* Boost.Compute's radix sort, to be compared with: sorts the u32 keys of a file on an OpenCL device.
 *
 *     g++ -O2 -std=c++14 scripts/peers/boost-compute.cpp -lOpenCL -o boost-compute
 *     ./boost-compute FILE REPEATS PLATFORM
 *
 * PLATFORM is a part of the platform's name. Prints one line of JSON: seconds from host array to host array, seconds
 * on the device alone (to the end of the queue), and whether the result is right.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <boost/compute/core.hpp>
#include <boost/compute/algorithm/copy.hpp>
#include <boost/compute/algorithm/sort.hpp>
#include <boost/compute/container/vector.hpp>

namespace compute = boost::compute;

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static compute::device find(const std::string &part)
{
    for (const compute::platform &platform : compute::system::platforms())
        if (platform.name().find(part) != std::string::npos)
            return platform.devices().at(0);
    std::fprintf(stderr, "no platform '%s'\n", part.c_str());
    std::exit(1);
}

static void print(const char *name, const std::vector<double> &seconds)
{
    std::printf("\"%s\": [", name);
    for (std::size_t i = 0; i < seconds.size(); i++)
        std::printf("%s%.9f", i ? ", " : "", seconds[i]);
    std::printf("], ");
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    std::FILE *file = std::fopen(argv[1], "rb");
    if (!file)
        return 1;
    std::fseek(file, 0, SEEK_END);
    std::vector<std::uint32_t> keys(std::ftell(file) / 4), result(keys.size());
    std::rewind(file);
    if (std::fread(keys.data(), 4, keys.size(), file) != keys.size())
        return 1;
    std::fclose(file);

    compute::context context(find(argv[3]));
    compute::command_queue queue(context, context.get_device());
    compute::vector<std::uint32_t> values(keys.size(), context);
    std::vector<double> whole, device;
    for (int i = 0; i <= std::atoi(argv[2]); i++) {
        const double start = now();
        compute::copy(keys.begin(), keys.end(), values.begin(), queue);
        queue.finish();
        const double there = now();
        compute::sort(values.begin(), values.end(), queue);
        queue.finish();
        const double sorted = now();
        compute::copy(values.begin(), values.end(), result.begin(), queue);
        queue.finish();
        if (i > 0) { /* the first one compiles */
            whole.push_back(now() - start);
            device.push_back(sorted - there);
        }
    }
    std::sort(keys.begin(), keys.end());
    std::printf("{\"version\": \"%d.%d\", ", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000);
    print("seconds", whole);
    print("deviceSeconds", device);
    std::printf("\"ok\": %s}\n", keys == result ? "true" : "false");
    return 0;
}
