#ifndef CLSORT_NATIVE_HOST_CANONICAL_H_
#define CLSORT_NATIVE_HOST_CANONICAL_H_

#include <cstddef>
#include <cstdint>

#include "slices.h"

namespace clsort::host {

/** Replaces floats that are equal as numbers by equal bits: one NaN, and +0 for both zeros. `to` may be `keys`. */
template <typename Key>
void Canonical(const Key* keys, size_t n, Key infinity, Key* to, Threads& threads) {
  constexpr Key kNaN = static_cast<Key>(-1) >> 1;
  ForSlices(n, threads, [&](size_t, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
      const Key key = keys[i], magnitude = key & kNaN;
      to[i] = magnitude == 0 ? 0 : magnitude > infinity ? kNaN : key;
    }
  });
}

/** Computes the length of each run from where the runs begin and where the last one ends. */
inline void RunLengths(const uint32_t* begins, size_t runs, size_t n, uint32_t* lengths, Threads& threads) {
  ForSlices(runs, threads, [&](size_t, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
      lengths[i] = static_cast<uint32_t>((i + 1 < runs ? begins[i + 1] : n) - begins[i]);
    }
  });
}

}  // namespace clsort::host

#endif  // CLSORT_NATIVE_HOST_CANONICAL_H_
