#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../stream_copy.h"
#include "workspace.h"

namespace clsort::host {

/** Elements of one type that collect in a cache line for each bin, and leave it as whole lines of the destination. */
template <typename T>
struct BinLines {
  static constexpr size_t kLength = kCacheLine / sizeof(T);
  T* lines;
  T* to;
  /** Elements of the destination. */
  size_t length;
  /** Elements between the last border of a cache line and `to`. */
  size_t shift;

  BinLines(T* lines, T* to, size_t length)
      : lines(lines), to(to), length(length), shift(reinterpret_cast<uintptr_t>(to) % kCacheLine / sizeof(T)) {}

  /** Returns the place of element `at` of the destination in its line. */
  size_t SlotOf(size_t at) const { return (at + shift) % kLength; }
  /** Adds element `at` of the destination to the line of its bin, which begins at element `starts[bin]`. */
  void Put(size_t bin, size_t at, T element, const size_t* starts) {
    const size_t slot = SlotOf(at);
    lines[bin * kLength + slot] = element;
    if (slot == kLength - 1) Flush(bin, at, starts[bin]);
  }
  /** Writes the line of a bin that ends after element `at`; elements before `begin` belong to others. */
  void Flush(size_t bin, size_t at, size_t begin) {
    if (at >= length) return;  // the program has changed the input since it was counted
    const T* line = lines + bin * kLength;
    const size_t count = SlotOf(at) + 1;
    if (count == kLength && at + 1 >= begin + kLength) {
      auto* target = to + (at + 1 - kLength);
      StreamLine(target, line);
      return;
    }
    const size_t own = std::min(count, at + 1 - begin);
    std::memcpy(to + (at + 1 - own), line + (count - own), own * sizeof(T));
  }
  /** Writes the lines that are not full. `next` is the place behind the last element of each bin. */
  void FlushAll(size_t bins, const size_t* starts, const size_t* next) {
    for (size_t bin = 0; bin < bins; bin++) {
      if (next[bin] == starts[bin] || SlotOf(next[bin]) == 0) continue;
      Flush(bin, next[bin] - 1, std::max(starts[bin], next[bin] - std::min(next[bin], SlotOf(next[bin]))));
    }
  }
};

}  // namespace clsort::host
