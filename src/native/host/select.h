#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include "columns.h"
#include "large_memory.h"
#include "piece_sort.h"
#include "slices.h"

namespace clsort::host {

/** Bits of a digit of a selection: its bins stay in the fastest cache. */
constexpr unsigned kSelectBits = 11;

/** Keys for each candidate that is copied. More candidates are counted by their next digit first. */
constexpr size_t kKeysPerCandidate = 16;

/**
 * Selects the first k keys of an order, and their positions, in input order. Of equal keys at the limit it selects those
 * with the lowest positions.
 *
 * It counts the keys by their most significant digit, finds the bin of key k, and repeats this in that bin until the bin
 * is small enough for a copy. A last pass collects the keys up to key k. All passes run on several threads.
 */
template <typename Key>
class Selection {
 public:
  /** @param codec codec of all code bits */
  Selection(const Key* keys, size_t n, const uint64_t* codec, Threads& threads)
      : keys_(keys), n_(n), codec_(Codec<Key>::Whole(codec)), threads_(threads) {}

  /** @param k at most n @return whether there was enough memory */
  template <typename Position>
  bool Run(size_t k, Key* selected, Position* positions) {
    if (k == 0) return true;
    Key limit = 0;
    if (!FindLimit(k, &limit)) return false;
    return threads_.stopped() || Collect(limit, k, selected, positions);
  }

 private:
  static constexpr unsigned kWidth = 8 * sizeof(Key);

  /** Codes whose bits in `mask` are those of `prefix`. */
  struct Candidates {
    Key prefix = 0, mask = 0;
    bool Has(Key code) const { return ((code ^ prefix) & mask) == 0; }
  };

  /** Returns the bits below bit `end`. */
  static Key Below(unsigned end) {
    return end == kWidth ? static_cast<Key>(-1) : static_cast<Key>((Key{1} << end) - 1);
  }

  /** Finds the code of key k. @return whether there was enough memory */
  bool FindLimit(size_t k, Key* limit) {
    Candidates candidates;
    for (unsigned top = kWidth;;) {
      const unsigned bits = std::min(kSelectBits, top), shift = top - bits;
      if (!Count(candidates, shift, bits)) return false;
      if (threads_.stopped()) return true;
      size_t digit = 0;
      while (digit + 1 < (size_t{1} << bits) && bins_[digit] < k) k -= bins_[digit++];
      const Key varying = static_cast<Key>((any_ ^ all_) & Below(shift));
      top = varying ? HighestBit(varying) + 1 : 0;
      const Key same = static_cast<Key>(Below(shift) & ~Below(top));
      candidates.prefix = static_cast<Key>(candidates.prefix | static_cast<Key>(digit << shift) | (any_ & same));
      candidates.mask = static_cast<Key>(~Below(top));
      *limit = candidates.prefix;
      if (top == 0) return true;
      if (bins_[digit] <= n_ / kKeysPerCandidate) return FindAmong(candidates, bins_[digit], k, limit);
    }
  }

  /** Counts candidates by a digit, and finds the bits in which they differ. @return whether there was enough memory */
  bool Count(const Candidates& candidates, unsigned shift, unsigned bits) {
    const size_t bins = size_t{1} << bits, tasks = TasksOf(n_, threads_);
    std::unique_ptr<size_t[]> counts(new (std::nothrow) size_t[tasks * bins]());
    if (!counts) return false;
    any_ = 0;
    all_ = static_cast<Key>(-1);
    std::mutex guard;
    ForTasks(n_, threads_, [&](size_t task, size_t first, size_t last) {
      uint32_t own[size_t{1} << kSelectBits] = {};
      Key any = 0, all = static_cast<Key>(-1);
      ForCodes(keys_, codec_, first, last, [&](size_t, const Key* codes, size_t count) {
        for (size_t i = 0; i < count; i++) {
          const Key code = codes[i];
          if (!candidates.Has(code)) continue;
          any |= code;
          all &= code;
          own[code >> shift & (bins - 1)]++;
        }
      });
      for (size_t bin = 0; bin < bins; bin++) counts[task * bins + bin] += own[bin];
      std::lock_guard<std::mutex> lock(guard);
      any_ |= any;
      all_ &= all;
    });
    std::fill_n(bins_, bins, 0);
    for (size_t i = 0; i < tasks * bins; i++) bins_[i % bins] += counts[i];
    return true;
  }

  /** Finds the code of key k among a few candidates. @return whether there was enough memory */
  bool FindAmong(const Candidates& candidates, size_t size, size_t k, Key* limit) {
    LargeMemory memory;
    if (!memory.Allocate(size * sizeof(Key))) return false;
    Key* const found = memory.as<Key>();
    std::atomic<size_t> end{0};
    ForSlices(n_, threads_, [&](size_t, size_t first, size_t last) {
      ForCodes(keys_, codec_, first, last, [&](size_t, const Key* codes, size_t count) {
        Key block[kBlock];
        size_t matches = 0;
        for (size_t i = 0; i < count; i++) {
          block[matches] = codes[i];
          matches += candidates.Has(codes[i]);
        }
        if (matches == 0) return;
        const size_t at = end.fetch_add(matches);
        if (at < size) std::copy_n(block, std::min(matches, size - at), found + at);  // the keys may have changed
      });
    });
    const size_t count = std::min(end.load(), size);
    if (count == 0 || threads_.stopped()) return true;
    Key* const nth = found + std::min(k, count) - 1;
    std::nth_element(found, nth, found + count);
    *limit = *nth;
    return true;
  }

  /** Counts of keys in a slice, and its part of the result. */
  struct Part {
    size_t below = 0, equal = 0, begin = 0, end = 0;
  };

  /** Writes the keys below the limit and the first ones that equal it. @return whether there was enough memory */
  template <typename Position>
  bool Collect(Key limit, size_t k, Key* selected, Position* positions) {
    std::unique_ptr<Part[]> parts(new (std::nothrow) Part[SlicesOf(n_)]);
    if (!parts) return false;
    ForSlices(n_, threads_, [&](size_t slice, size_t first, size_t last) {
      size_t below = 0, equal = 0;
      ForCodes(keys_, codec_, first, last, [&](size_t, const Key* codes, size_t count) {
        unsigned less = 0, same = 0;
        for (size_t i = 0; i < count; i++) {
          less += codes[i] < limit;
          same += codes[i] == limit;
        }
        below += less;
        equal += same;
      });
      parts[slice].below = below;
      parts[slice].equal = equal;
    });
    size_t below = 0;
    for (size_t slice = 0; slice < SlicesOf(n_); slice++) below += parts[slice].below;
    size_t rest = k - std::min(k, below), at = 0;
    for (size_t slice = 0; slice < SlicesOf(n_); slice++) {
      Part& part = parts[slice];
      part.equal = std::min(part.equal, rest);
      rest -= part.equal;
      part.begin = at;
      part.end = at = std::min(k, at + part.below + part.equal);
    }
    ForSlices(n_, threads_, [&](size_t slice, size_t first, size_t last) {
      const Part& part = parts[slice];
      size_t equal = part.equal, to = part.begin;
      if (to == part.end) return;
      ForCodes(keys_, codec_, first, last, [&](size_t from, const Key* codes, size_t count) {
        for (size_t i = 0; i < count && to < part.end; i++) {
          const bool takes_equal = equal > 0 && codes[i] == limit;
          if (codes[i] >= limit && !takes_equal) continue;
          equal -= takes_equal;
          selected[to] = keys_[from + i];
          positions[to++] = static_cast<Position>(from + i);
        }
      });
    });
    return true;
  }

  const Key* const keys_;
  const size_t n_;
  const Codec<Key> codec_;
  Threads& threads_;
  size_t bins_[size_t{1} << kSelectBits];
  /** Bits that are set in any or in all candidates of the last count. */
  Key any_ = 0, all_ = 0;
};

}  // namespace clsort::host
