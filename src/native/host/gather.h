#pragma once

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

/** Positions whose elements are fetched into the cache ahead: random reads of a large array take 100 nanoseconds each. */
constexpr size_t kGatherAhead = 32;

/**
 * Copies element `positions[i]` of `from` to element i of `to`, for n positions. A position beyond the end results in
 * zero bytes.
 *
 * @tparam kBytes bytes of an element; 0 if they are not known at compile time
 */
template <size_t kBytes, typename Position>
void GatherSlice(Records from, const Position* positions, size_t n, char* to) {
  const size_t each = kBytes ? kBytes : from.bytes;
  for (size_t i = 0; i < n; i++) {
    if (i + kGatherAhead < n) __builtin_prefetch(from.data + positions[i + kGatherAhead] * each);
    const size_t position = positions[i];
    if (position < from.n) {
      std::memcpy(to + i * each, from.data + position * each, each);
    } else {
      std::memset(to + i * each, 0, each);
    }
  }
}

/** Like `GatherSlice`, on several threads. @param stops whether it may end early, which leaves the result incomplete */
template <typename Position>
void Gather(const Records& from, const Position* positions, size_t n, char* to, bool stops, Threads& threads) {
  threads.For(SlicesOf(n), [&](size_t slice) {
    if (stops && threads.stopped()) return;
    const size_t first = slice * kSlice, count = std::min(kSlice, n - first);
    const auto gather = [&](auto constant) {
      GatherSlice<decltype(constant)::value, Position>(from, positions + first, count, to + first * from.bytes);
    };
    switch (from.bytes) {
      case 1: return gather(std::integral_constant<size_t, 1>{});
      case 2: return gather(std::integral_constant<size_t, 2>{});
      case 4: return gather(std::integral_constant<size_t, 4>{});
      case 8: return gather(std::integral_constant<size_t, 8>{});
      case 16: return gather(std::integral_constant<size_t, 16>{});
      default: return gather(std::integral_constant<size_t, 0>{});
    }
  });
}

}  // namespace clsort::host
