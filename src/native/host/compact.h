#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "columns.h"
#include "slices.h"

namespace clsort::host {

/** Writes elements one after another, up to the end of its part of an array: the input may change between two passes. */
template <typename Element>
class BoundedWriter {
 public:
  BoundedWriter(Element* to, size_t begin, size_t end) : to_(to), at_(std::min(begin, end)), end_(end) {}
  void Write(const Element* elements, size_t count) {
    count = std::min(count, end_ - at_);
    std::copy_n(elements, count, to_ + at_);
    at_ += count;
  }

 private:
  Element* const to_;
  size_t at_;
  const size_t end_;
};

/** Selects elements by bytes that are not 0. */
struct MaskSelector {
  const uint8_t* mask;
  void operator()(size_t first, size_t count, bool* selected) const {
    for (size_t i = 0; i < count; i++) selected[i] = mask[first + i] != 0;
  }
};

/** Selects keys whose codes are from `low` to `high`; with `inverted` all others. */
template <typename Key>
struct RangeSelector {
  const Key* keys;
  Codec<Key> codec;
  uint64_t low, high;
  bool inverted;
  void operator()(size_t first, size_t count, bool* selected) const {
    Key codes[kBlock];
    Encode(codec, reinterpret_cast<const char*>(keys + first), count, codes);
    for (size_t i = 0; i < count; i++) selected[i] = (codes[i] >= low && codes[i] <= high) != inverted;
  }
};

/** Selects sorted keys that differ from their predecessor. */
template <typename Key>
struct HeadSelector {
  const Key* keys;
  void operator()(size_t first, size_t count, bool* selected) const {
    for (size_t i = 0; i < count; i++) selected[i] = first + i == 0 || keys[first + i] != keys[first + i - 1];
  }
};

/** An array of limited size. */
template <typename Element>
struct Destination {
  Element* data;
  size_t n;
};

/**
 * Writes `element_of(i)` for each i below n that is selected, followed with `rest` by the others, both in order.
 *
 * It counts the selected elements of each slice first, so that each slice knows where it writes.
 *
 * @return whether there was enough memory
 */
template <typename Element, typename Selector, typename ElementOf>
bool Compact(size_t n, const Selector& selector, const ElementOf& element_of, const Destination<Element>& to, bool rest,
             uint64_t* selected_count, Threads& threads) {
  const size_t slices = SlicesOf(n);
  std::unique_ptr<size_t[]> begins(new (std::nothrow) size_t[slices + 1]());
  if (!begins) return false;
  ForSlices(n, threads, [&](size_t slice, size_t first, size_t last) {
    bool selected[kBlock];
    size_t sum = 0;
    for (size_t at = first; at < last; at += kBlock) {
      const size_t count = std::min(kBlock, last - at);
      selector(at, count, selected);
      unsigned own = 0;
      for (size_t i = 0; i < count; i++) own += selected[i];
      sum += own;
    }
    begins[slice + 1] = sum;
  });
  for (size_t slice = 0; slice < slices; slice++) begins[slice + 1] += begins[slice];
  const size_t all = begins[slices];
  ForSlices(n, threads, [&](size_t slice, size_t first, size_t last) {
    const size_t begin = begins[slice], end = begins[slice + 1];
    if (begin == end && !rest) return;
    BoundedWriter<Element> chosen(to.data, begin, std::min(end, to.n));
    BoundedWriter<Element> others(to.data, all + first - begin, std::min(all + last - end, to.n));
    bool selected[kBlock];
    Element block[kBlock], left[kBlock];
    for (size_t at = first; at < last; at += kBlock) {
      const size_t count = std::min(kBlock, last - at);
      selector(at, count, selected);
      size_t found = 0;
      for (size_t i = 0; i < count; i++) {
        block[found] = left[i - found] = element_of(at + i);
        found += selected[i];
      }
      chosen.Write(block, found);
      if (rest) others.Write(left, count - found);
    }
  });
  *selected_count = all;
  return true;
}

}  // namespace clsort::host
