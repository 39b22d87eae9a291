#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <mutex>

#include "columns.h"
#include "slices.h"

namespace clsort::host {

/** A sum with compensation of its rounding error (W. Kahan, 1965); the compensation is 0 at infinity. */
class RunningSum {
 public:
  double value = 0;

  void Add(double key) {
    const double corrected = key - compensation_, next = value + corrected;
    compensation_ = std::isfinite(next) ? next - value - corrected : 0;
    value = next;
  }

 private:
  double compensation_ = 0;
};

/** Returns the sum of integers modulo 2^64. */
template <typename Integer>
uint64_t IntegerSum(const Integer* keys, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) sum += static_cast<uint64_t>(static_cast<int64_t>(keys[i]));
  return sum;
}

template <typename Integer>
uint64_t IntegerSum(const Integer* keys, size_t n, Threads& threads) {
  std::atomic<uint64_t> sum{0};
  ForSlices(n, threads, [&](size_t, size_t first, size_t last) { sum += IntegerSum(keys + first, last - first); });
  return sum;
}

/** Returns the sum of floats, which one thread adds in order, so that the result depends on nothing else. */
template <typename Float>
double FloatSum(const Float* keys, size_t n, const Threads& threads) {
  RunningSum sum;
  for (size_t first = 0; first < n && !threads.stopped(); first += kSlice) {
    const size_t last = std::min(first + kSlice, n);
    for (size_t i = first; i < last; i++) sum.Add(static_cast<double>(keys[i]));
  }
  return sum.value;
}

/** Returns the smallest or largest code of at least one key. */
template <typename Key>
Key ExtremeCode(const Key* keys, size_t n, const Codec<Key>& codec, bool largest) {
  Key codes[kBlock], extreme = largest ? 0 : static_cast<Key>(-1);
  for (size_t at = 0; at < n; at += kBlock) {
    const size_t count = std::min(kBlock, n - at);
    Encode(codec, reinterpret_cast<const char*>(keys + at), count, codes);
    if (largest)
      for (size_t i = 0; i < count; i++) extreme = std::max(extreme, codes[i]);
    else
      for (size_t i = 0; i < count; i++) extreme = std::min(extreme, codes[i]);
  }
  return extreme;
}

template <typename Key>
Key ExtremeCode(const Key* keys, size_t n, const Codec<Key>& codec, bool largest, Threads& threads) {
  std::mutex guard;
  Key extreme = largest ? 0 : static_cast<Key>(-1);
  ForSlices(n, threads, [&](size_t, size_t first, size_t last) {
    const Key own = ExtremeCode(keys + first, last - first, codec, largest);
    std::lock_guard<std::mutex> lock(guard);
    extreme = largest ? std::max(extreme, own) : std::min(extreme, own);
  });
  return extreme;
}

/**
 * Reduces each run of values with `reduce(values, count)`, and writes the results.
 *
 * @param begins where the runs begin, in ascending order
 */
template <typename Key, typename Result, typename Reduce>
void ReduceRuns(const Key* values, size_t n, const uint32_t* begins, size_t runs, Result* results, const Reduce& reduce,
                Threads& threads) {
  ForSlices(n, threads, [&](size_t, size_t first, size_t last) {
    // The runs that begin in this slice.
    auto run = static_cast<size_t>(std::lower_bound(begins, begins + runs, first) - begins);
    for (; run < runs && !threads.stopped(); run++) {
      const size_t begin = begins[run];
      if (begin >= last) break;
      const size_t end = run + 1 < runs ? std::min<size_t>(begins[run + 1], n) : n;
      if (begin < end) results[run] = reduce(values + begin, end - begin);
    }
  });
}

}  // namespace clsort::host
