#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "bin_lines.h"
#include "counting_sort.h"
#include "partition_digit.h"
#include "sort_elements.h"
#include "threads.h"

namespace clsort::host {

/** Keys that a thread counts or moves at a time: a few milliseconds of work. */
constexpr size_t kMinSlice = size_t{1} << 15, kMaxSlice = size_t{1} << 20;

/** Keys for each key of a sample, and bounds of its size. */
constexpr size_t kKeysPerSample = 256, kMinSample = 512, kMaxSample = 16384;

/** Ranges that are left to sort. */
template <typename Elements>
class RangeLists {
 public:
  using Range = typename Elements::Range;

  explicit RangeLists(size_t max_piece) : max_piece(max_piece) {}

  /** Maximum elements of a piece, which one thread sorts without a partition. */
  const size_t max_piece;
  /** Those that are larger, and the pieces. */
  std::vector<Range> large, pieces;

  /** Adds a range to those that are left to sort. */
  void Add(const Range& range) {
    std::lock_guard<std::mutex> lock(guard_);
    (range.n > max_piece ? large : pieces).push_back(range);
  }

  /** Adds a range that is in order, in pieces. */
  bool AddSorted(Range range) {
    std::lock_guard<std::mutex> lock(guard_);
    for (size_t left = range.n; left > 0; left -= range.n, range.first += range.n) {
      range.n = std::min(left, Elements::kSharedPiece);
      range.mask = 0;
      pieces.push_back(range);
    }
    return true;
  }

 private:
  std::mutex guard_;
};

/** Partitions ranges that do not fit the cache by their most significant varying bits. */
template <typename Key, typename Payload>
class RangePartition {
 public:
  using Elements = SortElements<Key, Payload>;
  using Range = typename Elements::Range;

  RangePartition(Elements& elements, RangeLists<Elements>& lists) : elements_(elements), lists_(lists) {}

  /**
   * Partitions one range, whose bins it adds to the lists.
   *
   * @return whether there was enough memory; if not, nothing has changed
   */
  bool Run(const Range& range, Threads& threads, Workspace& own) {
    if (range.mask == 0) return lists_.AddSorted(range);
    const size_t slice = std::clamp(range.n / (size_t{threads.count()} * 4), kMinSlice, kMaxSlice) / kBlock * kBlock;
    const size_t slices = CeilDivide(range.n, slice);
    const auto [rises, falls] = OrderOf(range, slice, slices, threads);
    if (threads.stopped() || rises) return lists_.AddSorted(range);
    if (falls) return Reverse(threads);
    const size_t size = std::clamp(range.n / kKeysPerSample, kMinSample, kMaxSample);
    const Key* sample = Sample(range, size, own);
    const bool is_alone = !Elements::kHasPayload && elements_.whole_codes();
    if (is_alone && range.place == Elements::kInput && range.n == elements_.arguments.n &&
        SortFewValues(elements_.arguments.keys, range.n, elements_.codec, sample, size, elements_.arguments.sorted,
                      threads)) {
      return true;
    }
    const auto digit = BestDigit(sample, size, range.mask, range.n, lists_.max_piece);
    // Counts of the bins of each slice, until their sums replace them, with the end of the last bin.
    const size_t bins = digit.bins, row = bins + 1;
    std::unique_ptr<size_t[]> starts(new (std::nothrow) size_t[slices * row]());
    if (!starts) return false;
    const Key varying = Count(range, slice, slices, digit, starts.get(), threads);
    if (threads.stopped()) return lists_.AddSorted(range);
    size_t place = range.first;
    for (size_t bin = 0; bin < row; bin++) {
      for (size_t s = 0; s < slices; s++) place += std::exchange(starts[s * row + bin], place);
    }
    const bool spans = (digit.first == 0 || starts[1] == starts[0]) && starts[bins] == starts[bins - 1];
    const bool is_exact = spans || digit.Separates(range.mask);
    const auto rest = static_cast<Key>(varying & ((Key{1} << digit.shift) - 1));
    if (is_alone && is_exact && !rest) return WriteRuns(range, digit, starts.get(), threads);
    const auto to = range.place == Elements::kOutput || (range.place == Elements::kInput && elements_.in_place())
                        ? Elements::kScratch
                        : Elements::kOutput;
    // Payloads are in order then, and nothing reads the codes.
    const bool needs_codes = elements_.arguments.sorted || rest || !is_exact;
    if (!elements_.Reserve(to, needs_codes)) return false;
    ForEachWithWorkspace(threads, own, slices, [&](size_t s, Workspace& workspace) {
      if (threads.stopped()) return;
      const size_t first = range.first + s * slice;
      Scatter(range, first, std::min(slice, range.end() - first), digit, &starts[s * row], elements_.at(to),
              needs_codes, workspace);
    });
    if (threads.stopped()) return lists_.AddSorted(range);  // its memory has not changed
    for (size_t bin = 0; bin < bins; bin++) {
      const size_t first = starts[bin], n = starts[bin + 1] - first;
      const bool is_open = !is_exact && (bin == 0 || bin == bins - 1);
      if (n > 0) lists_.Add({first, n, range.origin, to, is_open ? varying : rest});
    }
    return true;
  }

 private:
  /** Sorts codes of a sample into the workspace. @return the codes */
  const Key* Sample(const Range& range, size_t size, Workspace& workspace) const {
    auto* sample = workspace.records.template as<Key>();
    for (size_t i = 0; i < size; i++) {
      elements_.ReadCodes(range.place, range.first + range.n / size * i, 1, &sample[i]);
      sample[i] &= range.mask;
    }
    return SortPiece(sample, workspace.scratch.template as<Key>(), size, static_cast<Key>(-1), workspace.counters);
  }

  /** Returns whether the codes of a range rise, and whether they fall so that a reversal of the input is stable. */
  std::pair<bool, bool> OrderOf(const Range& range, size_t slice, size_t slices, Threads& threads) const {
    std::atomic<bool> rises{true}, falls{range.place == Elements::kInput && range.n == elements_.arguments.n};
    threads.For(slices, [&](size_t s) {
      if (threads.stopped()) return;
      Key block[kBlock];
      const size_t first = range.first + s * slice, end = std::min(first + slice + 1, range.end());
      for (size_t at = first; at + 1 < end && (rises || falls); at += kBlock - 1) {
        const size_t n = std::min(kBlock, end - at);
        const Key* codes = elements_.CodesAt(range.place, at, n, block);
        if (rises && !Rises(codes, n, range.mask)) rises = false;
        if (falls && !Falls(codes, n, range.mask, !Elements::kHasPayload)) falls = false;
      }
    });
    return {rises, falls};
  }

  /** Counts the digits of each slice. @return the bits in which the codes differ */
  Key Count(const Range& range, size_t slice, size_t slices, Digit<Key> digit, size_t* counts, Threads& threads) {
    std::atomic<Key> varying{0};
    Key reference;
    elements_.ReadCodes(range.place, range.first, 1, &reference);
    threads.For(slices, [&](size_t s) {
      if (threads.stopped()) return;
      WithBins(digit, range.mask, [&](auto bin_of) {
        size_t* own = counts + s * (digit.bins + 1);
        Key block[kBlock], differs = 0;
        const size_t first = range.first + s * slice, end = std::min(first + slice, range.end());
        for (size_t at = first; at < end; at += kBlock) {
          const size_t n = std::min(kBlock, end - at);
          const Key* codes = elements_.CodesAt(range.place, at, n, block);
          for (size_t i = 0; i < n; i++) differs |= codes[i] ^ reference;
          for (size_t i = 0; i < n; i++) own[bin_of(codes[i])]++;
        }
        varying |= differs;
      });
    });
    return static_cast<Key>(varying & range.mask);
  }

  /** Writes the keys of a range whose codes are equal in each bin. */
  bool WriteRuns(const Range& range, const Digit<Key>& digit, const size_t* starts, Threads& threads) const {
    Key code;
    elements_.ReadCodes(range.place, range.first, 1, &code);
    const auto same = static_cast<Key>(code ^ ((code & range.mask) >> digit.shift << digit.shift));
    std::vector<Copies<Key>> runs;
    for (size_t bin = 0; bin < digit.bins; bin++) {
      code = static_cast<Key>((digit.first + bin) << digit.shift | same);
      if (starts[bin + 1] > starts[bin]) runs.push_back({elements_.codec.KeyOf(code), starts[bin + 1] - range.first});
    }
    char* const sorted = elements_.arguments.sorted + range.first * sizeof(Key);
    return WriteCopies(runs.data(), runs.size(), sorted, !elements_.in_place(), threads);
  }

  /** Moves a slice of a range to its bins. `starts` are the places of its first element in each bin. */
  void Scatter(const Range& range, size_t first, size_t n, const Digit<Key>& digit, const size_t* starts,
               const typename Elements::Columns& to, bool needs_codes, Workspace& workspace) {
    size_t* next = workspace.next;
    std::copy_n(starts, digit.bins, next);
    BinLines<Key> keys(workspace.key_lines.template as<Key>(), needs_codes ? to.codes : nullptr, elements_.arguments.n);
    BinLines<Payload> values(workspace.payload_lines.template as<Payload>(), to.payloads, elements_.arguments.n);
    WithBins(digit, range.mask, [&](const auto& bin_of) {
      Key block[kBlock];
      Payload payloads[kBlock];
      for (size_t at = first; at < first + n; at += kBlock) {
        const size_t count = std::min(kBlock, first + n - at);
        const Key* codes = elements_.CodesAt(range.place, at, count, block);
        elements_.ReadPayloads(range, at, count, payloads);
        // Copies that no store can change: the compiler keeps them in registers.
        auto own_keys = keys;
        auto own_values = values;
        const auto own_bin_of = bin_of;
        for (size_t i = 0; i < count; i++) {
          const size_t bin = own_bin_of(codes[i]), target = next[bin]++;
          if (needs_codes) own_keys.Put(bin, target, codes[i], starts);
          if constexpr (Elements::kHasPayload) own_values.Put(bin, target, payloads[i], starts);
        }
      }
    });
    if (needs_codes) keys.FlushAll(digit.bins, starts, next);
    if constexpr (Elements::kHasPayload) values.FlushAll(digit.bins, starts, next);
    EndStreamCopies();
  }

  /** Writes the input in reverse. Slices at both ends are exchanged, since input and result may be the same memory. */
  bool Reverse(Threads& threads) {
    const size_t half = (elements_.arguments.n + 1) / 2;
    threads.For(CeilDivide(half, kMinSlice), [&](size_t s) {
      if (threads.stopped() && !elements_.in_place()) return;
      for (size_t at = s * kMinSlice; at < std::min((s + 1) * kMinSlice, half); at += kBlock) {
        elements_.ReverseBlocks(at, std::min(kBlock, std::min((s + 1) * kMinSlice, half) - at));
      }
    });
    return true;
  }

  Elements& elements_;
  RangeLists<Elements>& lists_;
};

}  // namespace clsort::host
