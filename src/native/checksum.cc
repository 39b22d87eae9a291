#include <atomic>
#include <cstring>

#include "policy.h"
#include "thread_pool.h"
#include "work_job.h"

namespace clsort {

namespace {

/** Computes the checksum of cl/checksum.cl over whole words; `first` is the index of the first word. */
uint64_t SumWords(const char* data, size_t words, size_t first) {
  uint64_t sum = 0;
  for (size_t i = 0; i < words; i++) {
    uint32_t word;
    std::memcpy(&word, data + 4 * i, sizeof word);
    sum += uint64_t{word} * static_cast<uint32_t>(2 * (first + i) + 1);
  }
  return sum;
}

uint64_t Checksum(Environment& environment, const char* data, size_t bytes, unsigned threads) {
  size_t whole = bytes / 4;
  std::atomic<uint64_t> sum{0};
  ParallelForRanges(environment, threads, whole, kChecksumWords,
                    [&](size_t first, size_t words) { sum += SumWords(data + 4 * first, words, first); });
  uint32_t rest = 0;
  if (bytes % 4) std::memcpy(&rest, data + 4 * whole, bytes % 4);
  return sum + uint64_t{rest} * static_cast<uint32_t>(2 * whole + 1);
}

CLSORT_EXPORT(checksumAsync, "checksumAsync") {
  HostSpan host(call.LastingMemory(0, 0)), to(call.LastingMemory(1, sizeof(uint64_t)));
  auto threads = static_cast<unsigned>(call.Unsigned(2, CL_INVALID_VALUE, kMaxPoolThreads));
  if (!call.ok()) return;
  StartWork(call, "checksumAsync", [&environment = call.environment(), host, to, threads] {
    uint64_t sum = Checksum(environment, host.data, host.bytes, threads);
    std::memcpy(to.data, &sum, sizeof sum);
  });
}

}  // namespace

}  // namespace clsort
