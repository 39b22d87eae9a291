#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace clsort::host {

/** A 32-bit code, or a narrower one, with a payload of 32 bits: code << 32 | payload. */
struct Packed {
  uint64_t bits;
};

/** A code with a payload of 64 bits. */
struct Wide {
  uint64_t code;
  uint64_t payload;
};

inline uint8_t CodeOf(uint8_t record) { return record; }
inline uint16_t CodeOf(uint16_t record) { return record; }
inline uint32_t CodeOf(uint32_t record) { return record; }
inline uint64_t CodeOf(uint64_t record) { return record; }
inline uint32_t CodeOf(Packed record) { return static_cast<uint32_t>(record.bits >> 32); }
inline uint64_t CodeOf(const Wide& record) { return record.code; }

template <typename Record>
using CodeType = decltype(CodeOf(std::declval<Record>()));

/** Returns the index of the highest bit that is set. */
inline unsigned HighestBit(uint64_t bits) { return 63 - static_cast<unsigned>(__builtin_clzll(bits)); }
inline unsigned LowestBit(uint64_t bits) { return static_cast<unsigned>(__builtin_ctzll(bits)); }

/** Records that insertion sorts faster than passes. */
constexpr size_t kMaxInsertion = 48;

/** Bits of the widest digit: its bins fill half of the fastest cache. */
constexpr unsigned kMaxDigitBits = 11;
constexpr unsigned kMinDigitBits = 8;
constexpr size_t kBins = size_t{1} << kMaxDigitBits;
constexpr unsigned kMaxDigits = 64 / kMinDigitBits;

/** Returns the bits of a digit for n records: wider digits take fewer passes, but have more bins to clear. */
inline unsigned DigitBits(size_t n) { return std::clamp(HighestBit(n) - 3, kMinDigitBits, kMaxDigitBits); }

/**
 * Bits of the code, beyond those that number the records, after which hardly any two records of random data are equal.
 */
constexpr unsigned kSpareBits = 3;

/** Moves per record before an insertion gives up: further passes are faster then. */
constexpr size_t kMaxMoves = 4;

/** Sorts records by insertion: stable. @return whether it finished within `moves` moves */
template <typename Record>
bool InsertionSort(Record* records, size_t n, CodeType<Record> mask, size_t moves) {
  for (size_t i = 1; i < n; i++) {
    Record record = records[i];
    auto code = CodeOf(record) & mask;
    if ((CodeOf(records[i - 1]) & mask) <= code) continue;
    size_t place = i;
    do {
      records[place] = records[place - 1];
      place--;
    } while (place > 0 && (CodeOf(records[place - 1]) & mask) > code);
    records[place] = record;
    if (i - place > moves) return false;
    moves -= i - place;
  }
  return true;
}

/** Returns whether records rise. The unrolled loop takes less time than vector code for all widths of keys together. */
template <typename Record>
bool Rises(const Record* records, size_t n, CodeType<Record> mask) {
#pragma GCC unroll 8
  for (size_t i = 1; i < n; i++) {
    if ((CodeOf(records[i - 1]) & mask) > (CodeOf(records[i]) & mask)) return false;
  }
  return true;
}

/** Returns whether records fall so that a reversal is stable. `alone`: records of equal codes are equal. */
template <typename Record>
bool Falls(const Record* records, size_t n, CodeType<Record> mask, bool alone) {
#pragma GCC unroll 8
  for (size_t i = 1; i < n; i++) {
    const auto before = CodeOf(records[i - 1]), after = CodeOf(records[i]);
    if ((before & mask) <= (after & mask) && !(alone && before == after)) return false;
  }
  return true;
}

/** Whether the bits from `begin` on differ between all records of a sample. */
template <typename Record>
bool SampleDiffers(const Record* records, size_t n, CodeType<Record> mask, unsigned begin) {
  constexpr size_t kSample = 64;
  CodeType<Record> sample[kSample];
  size_t step = n / kSample;
  for (size_t i = 0; i < kSample; i++)
    sample[i] = static_cast<CodeType<Record>>((CodeOf(records[i * step]) & mask) >> begin);
  std::sort(sample, sample + kSample);
  return std::adjacent_find(sample, sample + kSample) == sample + kSample;
}

/** Counters of one thread. */
struct Counters {
  uint32_t counts[kMaxDigits][kBins];
};

/**
 * Least-significant-digit radix sort of the code bits from `begin` to `end`. Digits that are equal in all records cost
 * no pass.
 *
 * @param records input; both arrays are overwritten
 * @return the array that holds the result
 */
template <typename Record>
Record* SortByPasses(Record* records, Record* scratch, size_t n, unsigned begin, unsigned end, Counters& counters) {
  const unsigned widest = DigitBits(n);
  const unsigned digits = (end - begin + widest - 1) / widest;
  const unsigned each = (end - begin + digits - 1) / digits;
  const uint32_t bin_mask = (uint32_t{1} << each) - 1;
  const auto last_mask = static_cast<uint32_t>((uint64_t{1} << (end - begin - each * (digits - 1))) - 1);
  for (unsigned d = 0; d < digits; d++) std::fill_n(counters.counts[d], bin_mask + 1, 0);
  auto digit_of = [&](const Record& record, unsigned d) {
    return static_cast<uint32_t>(CodeOf(record) >> (begin + d * each)) & (d + 1 == digits ? last_mask : bin_mask);
  };
  auto count = [&](auto constant) {
    constexpr unsigned kDigits = decltype(constant)::value;
    for (size_t i = 0; i < n; i++) {
      for (unsigned d = 0; d < kDigits; d++) counters.counts[d][digit_of(records[i], d)]++;
    }
  };
  switch (digits) {
    case 1: count(std::integral_constant<unsigned, 1>{}); break;
    case 2: count(std::integral_constant<unsigned, 2>{}); break;
    case 3: count(std::integral_constant<unsigned, 3>{}); break;
    case 4: count(std::integral_constant<unsigned, 4>{}); break;
    case 5: count(std::integral_constant<unsigned, 5>{}); break;
    case 6: count(std::integral_constant<unsigned, 6>{}); break;
    case 7: count(std::integral_constant<unsigned, 7>{}); break;
    default: count(std::integral_constant<unsigned, 8>{});
  }
  Record* from = records;
  Record* to = scratch;
  for (unsigned d = 0; d < digits; d++) {
    uint32_t* next = counters.counts[d];
    const unsigned shift = begin + d * each;
    const uint32_t mask = d + 1 == digits ? last_mask : bin_mask;
    if (next[static_cast<uint32_t>(CodeOf(from[0]) >> shift) & mask] == n) continue;
    uint32_t sum = 0;
    for (size_t bin = 0; bin <= mask; bin++) sum += std::exchange(next[bin], sum);
    for (size_t i = 0; i < n; i++) {
      Record record = from[i];
      to[next[static_cast<uint32_t>(CodeOf(record) >> shift) & mask]++] = record;
    }
    std::swap(from, to);
  }
  return from;
}

/**
 * Sorts records that fit the processor's cache together with `scratch`: stable.
 *
 * Records that differ in their high bits are sorted by those only; insertion orders the few that do not.
 *
 * @param mask code bits that count: one window of adjacent bits
 * @return the array that holds the result, `records` or `scratch`
 */
template <typename Record>
Record* SortPiece(Record* records, Record* scratch, size_t n, CodeType<Record> mask, Counters& counters) {
  if (n < 2) return records;
  if (n <= kMaxInsertion) {
    InsertionSort(records, n, mask, SIZE_MAX);
    return records;
  }
  if (Rises(records, n, mask)) return records;
  if (Falls(records, n, mask, std::is_integral_v<Record>)) {
    std::reverse(records, records + n);
    return records;
  }
  CodeType<Record> varying = 0;
  for (size_t i = 1; i < n; i++) varying |= static_cast<CodeType<Record>>(CodeOf(records[i]) ^ CodeOf(records[0]));
  varying &= mask;
  unsigned begin = LowestBit(varying), end = HighestBit(varying) + 1;
  unsigned wanted = HighestBit(n) + kSpareBits;
  unsigned widest = DigitBits(n), rounded = (wanted + widest - 1) / widest * widest;
  if (end - begin > rounded && SampleDiffers(records, n, mask, end - rounded)) {
    Record* sorted = SortByPasses(records, scratch, n, end - rounded, end, counters);
    if (InsertionSort(sorted, n, mask, n * kMaxMoves)) return sorted;
    if (sorted != records) std::swap(records, scratch);
  }
  return SortByPasses(records, scratch, n, begin, end, counters);
}

}  // namespace clsort::host
