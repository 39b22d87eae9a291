#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "columns.h"
#include "reduce.h"
#include "slices.h"

namespace clsort::host {

/** Sums of integers, modulo 2^w. */
template <typename Key>
struct SumScan {
  static constexpr Key kInitial = 0;
  Key operator()(Key a, Key b) const { return static_cast<Key>(a + b); }
};

/** Products of integers, modulo 2^w. */
template <typename Key>
struct ProductScan {
  static constexpr Key kInitial = 1;
  Key operator()(Key a, Key b) const { return static_cast<Key>(uint64_t{a} * b); }
};

template <typename Key>
struct MinScan {
  static constexpr Key kInitial = static_cast<Key>(-1);
  Key operator()(Key a, Key b) const { return std::min(a, b); }
};

template <typename Key>
struct MaxScan {
  static constexpr Key kInitial = 0;
  Key operator()(Key a, Key b) const { return std::max(a, b); }
};

/** Scans the codes of keys from `value` on, and writes the results as keys if `to` is not null. @return the last value */
template <typename Key, typename Combine>
Key ScanSlice(const Key* keys, size_t n, const Codec<Key>& codec, Key value, Key* to, bool inclusive,
              const Combine& combine) {
  Key codes[kBlock];
  for (size_t at = 0; at < n; at += kBlock) {
    const size_t count = std::min(kBlock, n - at);
    Encode(codec, reinterpret_cast<const char*>(keys + at), count, codes);
    for (size_t i = 0; i < count; i++) {
      const Key next = combine(value, codes[i]);
      codes[i] = inclusive ? next : value;
      value = next;
    }
    if (to) Decode(codec, codes, count, reinterpret_cast<char*>(to + at));
  }
  return value;
}

/**
 * Scans with an associative operation on codes: on several threads, which combine each slice first. `to` may be `keys`.
 *
 * @return whether there was enough memory
 */
template <typename Key, typename Combine>
bool Scan(const Key* keys, size_t n, const Codec<Key>& codec, Key* to, bool inclusive, const Combine& combine,
          Threads& threads) {
  Key value = Combine::kInitial;
  if (threads.count() == 1) {
    for (size_t first = 0; first < n && !threads.stopped(); first += kSlice) {
      value = ScanSlice(keys + first, std::min(kSlice, n - first), codec, value, to + first, inclusive, combine);
    }
    return true;
  }
  std::unique_ptr<Key[]> begins(new (std::nothrow) Key[SlicesOf(n)]());
  if (!begins) return false;
  ForSlices(n, threads, [&](size_t slice, size_t first, size_t last) {
    begins[slice] = ScanSlice<Key>(keys + first, last - first, codec, Combine::kInitial, nullptr, inclusive, combine);
  });
  for (size_t slice = 0; slice < SlicesOf(n); slice++) {
    const Key own = begins[slice];
    begins[slice] = value;
    value = combine(value, own);
  }
  ForSlices(n, threads, [&](size_t slice, size_t first, size_t last) {
    ScanSlice(keys + first, last - first, codec, begins[slice], to + first, inclusive, combine);
  });
  return true;
}

/** A product of floats, rounded to their type at each step. */
template <typename Float>
struct RunningProduct {
  double value = 1;
  void Add(double key) { value = static_cast<Float>(value * key); }
};

/** Scans floats in order on one thread, because their sums and products depend on the order. `to` may be `keys`. */
template <typename Float, typename Running>
void ScanFloats(const Float* keys, size_t n, Float* to, bool inclusive, Running running, const Threads& threads) {
  for (size_t first = 0; first < n && !threads.stopped(); first += kSlice) {
    const size_t last = std::min(first + kSlice, n);
    for (size_t i = first; i < last; i++) {
      const double before = running.value;
      running.Add(static_cast<double>(keys[i]));
      to[i] = static_cast<Float>(inclusive ? running.value : before);
    }
  }
}

}  // namespace clsort::host
