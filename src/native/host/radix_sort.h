#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "counting_sort.h"
#include "range_partition.h"
#include "row_sort.h"
#include "sort_elements.h"
#include "threads.h"
#include "workspace.h"

namespace clsort::host {

/**
 * Sorts keys, with or without values, stably.
 *
 * Arrays that fit the cache are sorted by least-significant digits. Larger ones are partitioned by their most
 * significant varying bits into bins that fit the cache, which threads sort independently. A partition collects the
 * elements of each bin in one cache line, so that memory is written by whole lines. The first one moves the codes to the
 * memory of the results, so that only sorts in the memory of the input, and a second partition, need other memory.
 */
template <typename Key, typename Payload>
class RadixSort {
 public:
  RadixSort(const SortArguments& arguments, Threads& threads)
      : elements_(arguments),
        threads_(threads),
        lists_(threads.count() > 2 ? Elements::kSharedPiece : Elements::kPiece) {}

  /**
   * @return whether there was enough memory; if not, results in the memory of the input are a permutation of it, and
   *   others are undefined
   */
  bool Run() {
    if (elements_.arguments.n == 0) return true;
    if constexpr (!kHasPayload && sizeof(Key) <= 2) {
      // Passes over 16 bits are faster than the counters while all keys fit the cache.
      if (!elements_.arguments.offsets && elements_.whole_codes() &&
          (sizeof(Key) == 1 || elements_.arguments.n > Elements::kSharedPiece)) {
        return CountingSort(elements_.arguments.keys, elements_.arguments.n, elements_.codec,
                            elements_.arguments.sorted, threads_);
      }
    }
    if (elements_.arguments.offsets) {
      AddLargeSegments();
    } else {
      lists_.Add({0, elements_.arguments.n, 0, Elements::kInput, elements_.window});
    }
    own_ = BorrowWorkspace();
    if (!own_) failed_ = true;
    while (!failed_ && !lists_.large.empty()) PartitionRanges();
    if (failed_) {
      if (elements_.in_place()) FinishAll();
    } else {
      SortPieces();
      if (elements_.arguments.offsets) SortSmallSegments();
    }
    if (own_) ReturnWorkspace(std::move(own_));
    return !failed_;
  }

 private:
  using Elements = SortElements<Key, Payload>;
  using Range = typename Elements::Range;
  using Traits = typename Elements::Traits;
  using Record = typename Elements::Record;
  static constexpr bool kHasPayload = Elements::kHasPayload;
  /** Elements of small pieces and segments that a thread sorts at a time. */
  static constexpr size_t kGroup = Elements::kSharedPiece / 4;

  /** Writes all elements in their present order, for which it needs no memory. */
  void FinishAll() const {
    for (const Range& range : lists_.large) elements_.Finish(range);
    for (const Range& range : lists_.pieces) elements_.Finish(range);
    if (!elements_.arguments.offsets) return;
    ForSegments(0, elements_.arguments.n, [&](const Range& range) {
      if (range.n <= lists_.max_piece) elements_.Finish(range);
    });
  }

  /** Sorts a range that fits the cache, and writes the result. */
  void SortInCache(const Range& range, Workspace& workspace) const {
    auto* records = workspace.records.template as<Record>();
    auto* scratch = workspace.scratch.template as<Record>();
    if constexpr (!kHasPayload) {
      if (range.place == Elements::kInput) {
        elements_.ReadCodes(Elements::kInput, range.first, range.n, records);
      } else {
        records = elements_.at(range.place).codes + range.first;
      }
      elements_.WriteCodes(SortPiece(records, scratch, range.n, range.mask, workspace.counters), range.n, range.first);
    } else {
      Key codes[kBlock];
      Payload payloads[kBlock];
      for (size_t at = 0; at < range.n; at += kBlock) {
        const size_t count = std::min(kBlock, range.n - at);
        elements_.ReadCodes(range.place, range.first + at, count, codes);
        elements_.ReadPayloads(range, range.first + at, count, payloads);
        for (size_t i = 0; i < count; i++) records[at + i] = Traits::Make(codes[i], payloads[i]);
      }
      const Record* sorted = SortPiece(records, scratch, range.n, range.mask, workspace.counters);
      for (size_t at = 0; at < range.n; at += kBlock) {
        const size_t count = std::min(kBlock, range.n - at);
        for (size_t i = 0; i < count; i++) {
          codes[i] = static_cast<Key>(CodeOf(sorted[at + i]));
          payloads[i] = Traits::PayloadOf(sorted[at + i]);
        }
        elements_.WriteCodes(codes, count, range.first + at);
        elements_.WritePayloads(payloads, count, range.first + at);
      }
    }
  }

  /**
   * Partitions all ranges once: those with many keys by all threads, the others at the same time, each by one thread.
   * Without memory, the ranges stay as they are.
   */
  void PartitionRanges() {
    const std::vector<Range> ranges = std::exchange(lists_.large, {});
    const auto partition = [&](const Range& range, Threads& threads, Workspace& workspace) {
      if (!failed_ && RangePartition<Key, Payload>(elements_, lists_).Run(range, threads, workspace)) return;
      failed_ = true;
      lists_.Add(range);
    };
    std::vector<Range> others;
    for (const Range& range : ranges) {
      if (range.n < elements_.arguments.n / (2 * threads_.count())) {
        others.push_back(range);
      } else {
        partition(range, threads_, *own_);
      }
    }
    ForEachWithWorkspace(threads_, *own_, others.size(), [&](size_t i, Workspace& workspace) {
      OneThread one(threads_);
      partition(others[i], one, workspace);
    });
  }

  /** Calls `use(range)` for the segments that start between two keys. */
  template <typename Use>
  void ForSegments(size_t from, size_t to, const Use& use) const {
    const uint32_t* end = elements_.arguments.offsets + elements_.arguments.segments;
    for (const uint32_t* at = std::lower_bound(elements_.arguments.offsets, end, from); at < end && *at < to; at++) {
      const size_t first = at[0], last = at[1];
      // The program may change the offsets meanwhile: no access may leave the arrays.
      if (last <= first || last > elements_.arguments.n) continue;
      use(Range{first, last - first, elements_.arguments.from_segment ? first : 0, Elements::kInput, elements_.window});
    }
  }

  /** Adds the segments that do not fit the cache to the ranges to sort. */
  void AddLargeSegments() {
    ForSegments(0, elements_.arguments.n, [&](const Range& range) {
      if (range.n > lists_.max_piece) lists_.large.push_back(range);
    });
  }

  void SortSmallSegments() {
    ForEachWithWorkspace(
        threads_, *own_, CeilDivide(elements_.arguments.n, kGroup), [&](size_t g, Workspace& workspace) {
          Range rows[kRows];
          size_t count = 0;
          const auto sort_each = [&] {
            for (size_t row = 0; row < count; row++) SortOrFinish(rows[row], workspace);
            count = 0;
          };
          ForSegments(g * kGroup, (g + 1) * kGroup, [&](const Range& range) {
            if (range.n > lists_.max_piece) return;
            const bool follows = count == 0 || (range.n == rows[0].n && range.first == rows[count - 1].end());
            if (!follows || range.n > kMaxRow) sort_each();
            rows[count++] = range;
            if (range.n > kMaxRow || (count == kRows && !SortRowsAtOnce(rows[0], workspace))) sort_each();
            if (count == kRows) count = 0;
          });
          sort_each();
        });
  }

  /** Sorts `kRows` rows of equal length, of which this is the first. @return whether it did */
  bool SortRowsAtOnce(const Range& row, Workspace& workspace) const {
    if constexpr (kHasPayload) return false;  // a network is not stable
    if (!elements_.whole_codes() || threads_.stopped()) return false;
    auto* codes = workspace.records.template as<Key>();
    elements_.ReadCodes(Elements::kInput, row.first, kRows * row.n, codes);
    SortRows(codes, row.n);
    elements_.WriteCodes(codes, kRows * row.n, row.first);
    return true;
  }

  /** Sorts all ranges that fit the cache, several small ones at a time. */
  void SortPieces() {
    std::vector<size_t> groups{0};
    size_t keys = 0;
    for (size_t i = 0; i < lists_.pieces.size(); i++) {
      keys += lists_.pieces[i].n;
      if (keys < kGroup) continue;
      groups.push_back(i + 1);
      keys = 0;
    }
    if (groups.back() != lists_.pieces.size()) groups.push_back(lists_.pieces.size());
    ForEachWithWorkspace(threads_, *own_, groups.size() - 1, [&](size_t g, Workspace& workspace) {
      for (size_t i = groups[g]; i < groups[g + 1]; i++) SortOrFinish(lists_.pieces[i], workspace);
    });
  }

  /**
   * Sorts a range that fits the cache. When the sort ends early, a result in the memory of the input stays a permutation
   * of it.
   */
  void SortOrFinish(const Range& range, Workspace& workspace) const {
    const bool stopped = threads_.stopped();
    if (stopped && !elements_.in_place()) return;
    if (range.mask == 0 || stopped) {
      elements_.Finish(range);
    } else {
      SortInCache(range, workspace);
    }
  }

  Elements elements_;
  Threads& threads_;
  RangeLists<Elements> lists_;
  /** Whether memory was exhausted. */
  std::atomic<bool> failed_{false};
  std::unique_ptr<Workspace> own_;
};

}  // namespace clsort::host
