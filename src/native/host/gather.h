#ifndef CLSORT_NATIVE_HOST_GATHER_H_
#define CLSORT_NATIVE_HOST_GATHER_H_

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "threads.h"

namespace clsort::host {

/**
 * Copies element `positions[i]` of `from` to element i of `to`: `n` elements of `bytes` bytes. A position beyond the end
 * stands for the last element.
 */
template <typename Position>
void Gather(const char* from, size_t bytes, const Position* positions, size_t n, char* to, Threads& threads) {
  constexpr size_t kGathered = size_t{1} << 16;
  const auto copy = [&](size_t first, size_t last, auto constant) {
    constexpr size_t kBytes = decltype(constant)::value;
    const size_t each = kBytes ? kBytes : bytes;
    for (size_t i = first; i < last; i++) {
      std::memcpy(to + i * each, from + std::min<size_t>(positions[i], n - 1) * each, each);
    }
  };
  threads.For((n + kGathered - 1) / kGathered, [&](size_t s) {
    const size_t first = s * kGathered, last = std::min(first + kGathered, n);
    switch (bytes) {
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
