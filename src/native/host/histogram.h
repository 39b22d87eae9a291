#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "columns.h"
#include "slices.h"

namespace clsort::host {

/** Bin of keys that are not counted. */
constexpr size_t kNoBin = SIZE_MAX;

/**
 * Counts keys by `bin_of(code)`, which is below `bins` or `kNoBin`. Counts are modulo 2^32.
 *
 * @return whether there was enough memory
 */
template <typename Key, typename BinOf>
bool Histogram(const Key* keys, size_t n, const Codec<Key>& codec, size_t bins, const BinOf& bin_of, uint32_t* counts,
               Threads& threads) {
  const size_t tasks = TasksOf(n, threads);
  std::unique_ptr<uint32_t[]> all(new (std::nothrow) uint32_t[tasks * bins]());
  if (!all) return false;
  ForTasks(n, threads, [&](size_t task, size_t first, size_t last) {
    uint32_t* const own = all.get() + task * bins;
    Key codes[kBlock];
    for (size_t at = first; at < last; at += kBlock) {
      const size_t count = std::min(kBlock, last - at);
      Encode(codec, reinterpret_cast<const char*>(keys + at), count, codes);
      for (size_t i = 0; i < count; i++) {
        const size_t bin = bin_of(codes[i]);
        if (bin != kNoBin) own[bin]++;
      }
    }
  });
  for (size_t bin = 0; bin < bins; bin++) {
    uint32_t sum = 0;
    for (size_t task = 0; task < tasks; task++) sum += all[task * bins + bin];
    counts[bin] = sum;
  }
  return true;
}

/** Finds bins by ascending codes, one more than there are bins; the last bin includes its upper edge. */
struct EdgeBins {
  const uint64_t* edges;
  size_t bins;
  template <typename Key>
  size_t operator()(Key code) const {
    // Without branches, which random keys would mispredict at each step.
    size_t bin = 0;
    for (size_t length = bins; length > 1;) {
      const size_t half = length / 2;
      bin = edges[bin + half] <= code ? bin + half : bin;
      length -= half;
    }
    return code < edges[0] || code > edges[bins] ? kNoBin : bin;
  }
};

}  // namespace clsort::host
