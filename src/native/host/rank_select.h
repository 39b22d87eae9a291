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

/**
 * Finds the codes at ranks of an order.
 *
 * It counts the codes by their highest digit, copies those whose digit a rank falls on, and repeats this among the copies
 * until few are left. For uniform keys that is two reads of the keys, for any number of ranks.
 * Source: M. Blum et al., "Time bounds for selection" (1973), by digits as in radix sort.
 */
class RankSelection {
 public:
  /** Maximum number of ranks. */
  static constexpr size_t kMaxRanks = 8;

  explicit RankSelection(Threads& threads) : threads_(threads) {}

  /**
   * Replaces `count` ascending ranks, each below n, with the codes of the keys there.
   *
   * @param top the lowest bit from which on all codes agree
   * @return whether there was enough memory
   */
  template <typename Key>
  bool Find(const Key* keys, size_t n, const Codec<Key>& codec, uint64_t* ranks, size_t count, unsigned top) const {
    Counts<Key> counts;
    for (;;) {
      counts.bits = std::min(kRankBits, top);
      counts.shift = top - counts.bits;
      Count(keys, n, codec, &counts);
      if (threads_.stopped()) return true;
      const auto varying = static_cast<Key>(counts.any ^ counts.all);
      if (varying == 0 || top == 0) {
        std::fill_n(ranks, count, counts.any);
        return true;
      }
      if (varying >> counts.shift) return FindInBins(keys, n, codec, counts, ranks, count);
      top = HighestBit(varying) + 1;
    }
  }

 private:
  /** Bits of a digit: its bins stay in the fastest cache. */
  static constexpr unsigned kRankBits = 11;
  static constexpr size_t kBins = size_t{1} << kRankBits;
  /** Maximum codes of a bin that are selected from by comparisons. */
  static constexpr size_t kCompared = size_t{1} << 12;
  static constexpr uint8_t kNotWanted = kMaxRanks;

  template <typename Key>
  struct Counts {
    unsigned shift, bits;
    /** Bits that are set in any or in all codes. */
    Key any, all;
    size_t bins[kBins];
    size_t DigitOf(Key code) const { return static_cast<size_t>(code >> shift) & ((size_t{1} << bits) - 1); }
  };

  /** A bin that ranks fall on, and copies of its codes in any order. */
  template <typename Key>
  struct Bin {
    size_t size;
    uint64_t* ranks;
    size_t count;
    LargeMemory memory;
    std::atomic<size_t> end{0};

    /** Adds codes. Keys may have changed since they were counted. */
    void Add(const Key* codes, size_t n) {
      const size_t at = end.fetch_add(n);
      if (at < size) std::copy_n(codes, std::min(n, size - at), memory.as<Key>() + at);
    }
  };

  /** Counts digits, and finds the bits in which the codes differ. */
  template <typename Key>
  void Count(const Key* keys, size_t n, const Codec<Key>& codec, Counts<Key>* counts) const {
    std::fill_n(counts->bins, kBins, 0);
    counts->any = 0;
    counts->all = static_cast<Key>(-1);
    std::mutex guard;
    ForTasks(n, threads_, [&](size_t, size_t first, size_t last) {
      uint32_t own[kBins] = {};
      Key any = 0, all = static_cast<Key>(-1);
      ForCodes(keys, codec, first, last, [&](size_t, const Key* codes, size_t size) {
        for (size_t i = 0; i < size; i++) {
          any |= codes[i];
          all &= codes[i];
        }
        for (size_t i = 0; i < size; i++) own[counts->DigitOf(codes[i])]++;
      });
      std::lock_guard<std::mutex> lock(guard);
      for (size_t bin = 0; bin < kBins; bin++) counts->bins[bin] += own[bin];
      counts->any |= any;
      counts->all &= all;
    });
  }

  template <typename Key>
  bool FindInBins(const Key* keys, size_t n, const Codec<Key>& codec, const Counts<Key>& counts, uint64_t* ranks,
                  size_t count) const {
    Bin<Key> wanted[kMaxRanks];
    uint8_t slots[kBins];
    std::fill_n(slots, kBins, kNotWanted);
    size_t used = 0, before = 0;
    for (size_t bin = 0, next = 0; bin < kBins && next < count; before += counts.bins[bin++]) {
      const size_t first = next, size = counts.bins[bin];
      while (next < count && ranks[next] - before < size) ranks[next++] -= before;
      if (next == first) continue;
      Bin<Key>& one = wanted[used];
      one.size = size;
      one.ranks = ranks + first;
      one.count = next - first;
      if (!one.memory.Allocate(size * sizeof(Key))) return false;
      slots[bin] = static_cast<uint8_t>(used++);
    }
    ForSlices(n, threads_, [&](size_t, size_t first, size_t last) {
      Key found[kMaxRanks][kBlock];
      ForCodes(keys, codec, first, last, [&](size_t, const Key* codes, size_t size) {
        size_t sizes[kMaxRanks] = {};
        for (size_t i = 0; i < size; i++) {
          const uint8_t slot = slots[counts.DigitOf(codes[i])];
          if (slot != kNotWanted) found[slot][sizes[slot]++] = codes[i];
        }
        for (size_t slot = 0; slot < used; slot++)
          if (sizes[slot]) wanted[slot].Add(found[slot], sizes[slot]);
      });
    });
    for (size_t slot = 0; slot < used && !threads_.stopped(); slot++)
      if (!FindInBin(wanted[slot], counts.shift)) return false;
    return true;
  }

  template <typename Key>
  bool FindInBin(const Bin<Key>& bin, unsigned top) const {
    const size_t n = std::min(bin.end.load(), bin.size);
    if (n == 0) return true;
    for (size_t i = 0; i < bin.count; i++) bin.ranks[i] = std::min<uint64_t>(bin.ranks[i], n - 1);
    Key* const codes = bin.memory.template as<Key>();
    if (n > kCompared) {
      static constexpr uint64_t kIdentity[kCodecWords] = {};
      return Find(codes, n, Codec<Key>::Whole(kIdentity), bin.ranks, bin.count, top);
    }
    std::sort(codes, codes + n);
    for (size_t i = 0; i < bin.count; i++) bin.ranks[i] = codes[bin.ranks[i]];
    return true;
  }

  Threads& threads_;
};

}  // namespace clsort::host
