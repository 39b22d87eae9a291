#ifndef CLSORT_NATIVE_HOST_GATHER_H_
#define CLSORT_NATIVE_HOST_GATHER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "slices.h"

namespace clsort::host {

/** Elements of `bytes` bytes. */
struct Records {
  const char* data;
  size_t n, bytes;
};

/**
 * Copies element `positions[i]` of `from` to element i of `to`, for n positions. A position beyond the end results in
 * zero bytes.
 *
 * @param stops whether it may end early, which leaves the result incomplete
 */
inline void Gather(const Records& from, const uint32_t* positions, size_t n, char* to, bool stops, Threads& threads) {
  const auto copy = [&](size_t first, size_t last, auto constant) {
    constexpr size_t kBytes = decltype(constant)::value;
    const size_t each = kBytes ? kBytes : from.bytes;
    for (size_t i = first; i < last; i++) {
      const size_t position = positions[i];
      if (position < from.n) {
        std::memcpy(to + i * each, from.data + position * each, each);
      } else {
        std::memset(to + i * each, 0, each);
      }
    }
  };
  threads.For(SlicesOf(n), [&](size_t slice) {
    if (stops && threads.stopped()) return;
    const size_t first = slice * kSlice, last = std::min(first + kSlice, n);
    switch (from.bytes) {
      case 1: return copy(first, last, std::integral_constant<size_t, 1>{});
      case 2: return copy(first, last, std::integral_constant<size_t, 2>{});
      case 4: return copy(first, last, std::integral_constant<size_t, 4>{});
      case 8: return copy(first, last, std::integral_constant<size_t, 8>{});
      case 16: return copy(first, last, std::integral_constant<size_t, 16>{});
      default: return copy(first, last, std::integral_constant<size_t, 0>{});
    }
  });
}

}  // namespace clsort::host

#endif  // CLSORT_NATIVE_HOST_GATHER_H_
