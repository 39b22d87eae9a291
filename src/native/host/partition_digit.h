#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "piece_sort.h"
#include "workspace.h"

namespace clsort::host {

/** Average keys of a bin after a partition. */
constexpr size_t kKeysPerBin = size_t{1} << 14;

constexpr unsigned kMinPartitionBits = 4;

/**
 * The digit of a partition: the bits of a code from `shift` on, less `first`. Codes below the first bin belong to it,
 * those above the last one belong to that. A few outliers, such as the tiny numbers among random doubles, so leave most
 * bins to the other keys.
 */
template <typename Key>
struct Digit {
  unsigned shift;
  Key first;
  size_t bins;
  size_t Of(Key code) const {
    const auto high = static_cast<Key>(code >> shift);
    const auto bin = static_cast<Key>(high > first ? high - first : 0);
    return std::min<size_t>(bin, bins - 1);
  }
  /** Whether each bin holds one value of the digit, for codes that differ in the bits of a mask. */
  bool Separates(Key mask) const { return first == 0 && static_cast<size_t>(mask >> shift) < bins; }

  /**
   * Returns the digit that spans the codes from `low` to `high`.
   *
   * @param lowest first bit that may be a part of it
   */
  static Digit Over(Key low, Key high, unsigned lowest, size_t bins) {
    unsigned shift = lowest;
    const auto span = [&] { return (uint64_t{high} >> shift) - (uint64_t{low} >> shift); };
    while (span() >= bins) shift++;
    const size_t spare = bins - 1 - span();
    const auto first = static_cast<Key>(low >> shift);
    return {shift, static_cast<Key>(first - std::min<uint64_t>(first, spare / 2)), bins};
  }
};

/** Calls `use(bin_of)` with a function that returns the bin of a code: the shortest one that is right for the mask. */
template <typename Key, typename Use>
void WithBins(const Digit<Key>& digit, Key mask, const Use& use) {
  if (digit.Separates(mask)) {
    const auto bits = static_cast<size_t>(mask >> digit.shift);
    use([shift = digit.shift, bits](Key code) { return static_cast<size_t>(code >> shift) & bits; });
  } else {
    use([digit, mask](Key code) { return digit.Of(code & mask); });
  }
}

/**
 * Returns the digit by which most of `n` keys fall into bins of at most `most` keys, judged by a sorted sample of their
 * codes. It spans the sample without some of its smallest and largest codes.
 *
 * @param mask the bits in which the keys may differ
 */
template <typename Key>
Digit<Key> BestDigit(const Key* sample, size_t size, Key mask, size_t n, size_t most) {
  const size_t trims[] = {0, size / 128, size / 16, size / 4};
  unsigned bits = std::clamp(HighestBit(n / kKeysPerBin | 1), kMinPartitionBits, kMaxPartitionBits);
  const unsigned lowest = LowestBit(mask);
  const uint64_t span = (uint64_t{sample[size - 1]} >> lowest) - (uint64_t{sample[0]} >> lowest);
  // A bin for each code leaves nothing to sort. Spare bins on both sides keep outliers apart from the sample.
  if (span < kMaxPartitionBins - 2)
    return Digit<Key>::Over(sample[0], sample[size - 1], lowest, size_t{2} << HighestBit(span + 2));
  const size_t fits = most * size / n;
  Digit<Key> best{};
  size_t least = SIZE_MAX;
  for (; bits <= kMaxPartitionBits; bits++) {
    for (size_t front : trims) {
      for (size_t back : trims) {
        const auto digit = Digit<Key>::Over(sample[front], sample[size - 1 - back], lowest, size_t{1} << bits);
        size_t beyond = 0;  // keys in bins that do not fit
        for (size_t i = 0, end; i < size; i = end) {
          const size_t bin = digit.Of(sample[i]);
          for (end = i + 1; end < size && digit.Of(sample[end]) == bin;) end++;
          if (end - i > fits) beyond += end - i;
        }
        if (beyond >= least) continue;
        least = beyond;
        best = digit;
        if (beyond <= size / 32) return best;
      }
    }
  }
  return best;
}

}  // namespace clsort::host
