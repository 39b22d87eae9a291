#ifndef CLSORT_NATIVE_HOST_RADIX_SORT_H_
#define CLSORT_NATIVE_HOST_RADIX_SORT_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "bin_lines.h"
#include "columns.h"
#include "counting_sort.h"
#include "large_memory.h"
#include "partition_digit.h"
#include "piece_sort.h"
#include "row_sort.h"
#include "threads.h"
#include "workspace.h"

namespace clsort::host {

/** Payload type of keys that are sorted alone. */
struct None {};

/** Keys that a thread counts or moves at a time: a few milliseconds of work. */
constexpr size_t kMinSlice = size_t{1} << 15, kMaxSlice = size_t{1} << 20;

/** Keys for each key of a sample, and bounds of its size. */
constexpr size_t kKeysPerSample = 256, kMinSample = 512, kMaxSample = 16384;

/** Type in which a key and its payload are sorted in cache. */
template <typename Key, typename Payload>
struct RecordOf {
  using Type = std::conditional_t<sizeof(Key) <= 4 && sizeof(Payload) == 4, Packed, Wide>;
  static Type Make(Key code, Payload payload) {
    if constexpr (std::is_same_v<Type, Packed>) {
      return {uint64_t{code} << 32 | payload};
    } else {
      return {code, payload};
    }
  }
  static Payload PayloadOf(const Type& record) {
    if constexpr (std::is_same_v<Type, Packed>) {
      return static_cast<Payload>(record.bits);
    } else {
      return static_cast<Payload>(record.payload);
    }
  }
};
template <typename Key>
struct RecordOf<Key, None> {
  using Type = Key;
};

/** Arguments of a sort. The memory of the results may be that of the keys and values. */
struct SortArguments {
  const char* keys;
  size_t n;
  /** Words of the codec; the mask is the window of adjacent bits that the codes are compared by. */
  const uint64_t* codec;
  /** Null if only the values are wanted. */
  char* sorted;
  Values values;
  /** Destination of the values or positions; null to sort keys alone. */
  char* moved;
  size_t moved_bytes;
  /** Starts of the segments that are sorted separately, and the end of the last one; null for one array. */
  const uint32_t* offsets = nullptr;
  size_t segments = 0;
  /** Whether positions count from the start of each segment. */
  bool from_segment = false;
};

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
      : arguments_(arguments),
        codec_(Codec<Key>::Whole(arguments.codec)),
        window_(static_cast<Key>(arguments.codec[kMask])),
        threads_(threads) {}

  /**
   * @return whether there was enough memory; if not, results in the memory of the input are a permutation of it, and
   *   others are undefined
   */
  bool Run() {
    if (arguments_.n == 0) return true;
    if constexpr (!kHasPayload && sizeof(Key) <= 2) {
      // Passes over 16 bits are faster than the counters while all keys fit the cache.
      if (!arguments_.offsets && window_ == static_cast<Key>(-1) && (sizeof(Key) == 1 || arguments_.n > kPiece)) {
        return CountingSort(arguments_.keys, arguments_.n, codec_, arguments_.sorted, threads_);
      }
    }
    if (arguments_.offsets) {
      AddLargeSegments();
    } else {
      Add({0, arguments_.n, 0, kInput, window_});
    }
    own_ = BorrowWorkspace();
    if (!own_) failed_ = true;
    while (!failed_ && !ranges_.empty()) PartitionRanges();
    if (failed_) {
      if (in_place()) FinishAll();
    } else {
      SortPieces();
      if (arguments_.offsets) SortSmallSegments();
    }
    if (own_) ReturnWorkspace(std::move(own_));
    return !failed_;
  }

 private:
  using Traits = RecordOf<Key, Payload>;
  using Record = typename Traits::Type;
  static constexpr bool kHasPayload = !std::is_same_v<Payload, None>;
  static constexpr size_t kPiece = kPieceBytes / sizeof(Record);

  /** Where elements lie: as the caller's keys, or as codes in one of two places. */
  enum Place { kInput, kScratch, kOutput };

  struct Range {
    size_t first, n;
    /** Element from which positions count. */
    size_t origin;
    Place place;
    /** Bits in which codes of the range may differ. */
    Key mask;
    size_t end() const { return first + n; }
  };

  /** Codes and payloads. */
  struct Columns {
    Key* codes = nullptr;
    Payload* payloads = nullptr;
  };

  /**
   * Calls `work(i, workspace)` in parallel. Each thread keeps one workspace, which stays in its core's cache; without
   * memory for any, this thread does all work.
   */
  template <typename Work>
  static void For(Threads& threads, Workspace& own, size_t count, const Work& work) {
    std::atomic<size_t> next{0};
    const auto loop = [&](Workspace& workspace) {
      for (size_t i; (i = next++) < count;) work(i, workspace);
    };
    const size_t tasks = std::min<size_t>(count, threads.count());
    if (tasks > 1) {
      threads.For(tasks, [&](size_t) {
        auto workspace = BorrowWorkspace();
        if (!workspace) return;
        loop(*workspace);
        ReturnWorkspace(std::move(workspace));
      });
    }
    loop(own);
  }

  /** Returns codes of a place: where they lie, if they lie there as codes, or in `block`. */
  const Key* CodesAt(Place place, size_t first, size_t n, Key* block) const {
    if (place != kInput) return places_[place].codes + first;
    const char* keys = arguments_.keys + first * sizeof(Key);
    if (codec_.identity && reinterpret_cast<uintptr_t>(keys) % sizeof(Key) == 0)
      return reinterpret_cast<const Key*>(keys);
    Encode(codec_, keys, n, block);
    return block;
  }
  /** Reads codes of a range. */
  void ReadCodes(Place place, size_t first, size_t n, Key* codes) const {
    if (place == kInput) {
      Encode(codec_, arguments_.keys + first * sizeof(Key), n, codes);
    } else {
      std::memcpy(codes, places_[place].codes + first, n * sizeof(Key));
    }
  }
  void ReadPayloads(const Range& range, size_t first, size_t n, Payload* payloads) const {
    if constexpr (kHasPayload) {
      if (range.place == kInput) {
        arguments_.values.Read(first, n, range.origin, payloads);
      } else {
        std::memcpy(payloads, places_[range.place].payloads + first, n * sizeof(Payload));
      }
    }
  }

  /** Writes sorted elements as results. */
  void WriteCodes(const Key* codes, size_t n, size_t first) const {
    if (arguments_.sorted) Decode(codec_, codes, n, arguments_.sorted + first * sizeof(Key));
  }
  void WritePayloads(const Payload* payloads, size_t n, size_t first) const {
    if constexpr (kHasPayload) WriteValues(payloads, n, arguments_.moved, arguments_.moved_bytes, first);
  }

  /** Writes a range whose elements are in order. */
  void Finish(const Range& range) const {
    Key codes[kBlock];
    Payload payloads[kBlock];
    for (size_t at = range.first; at < range.end(); at += kBlock) {
      const size_t count = std::min(kBlock, range.end() - at);
      ReadCodes(range.place, at, count, codes);
      ReadPayloads(range, at, count, payloads);
      WriteCodes(codes, count, at);
      WritePayloads(payloads, count, at);
    }
  }

  /** Writes all elements in their present order, for which it needs no memory. */
  void FinishAll() const {
    for (const Range& range : ranges_) Finish(range);
    for (const Range& range : pieces_) Finish(range);
    if (!arguments_.offsets) return;
    ForSegments(0, arguments_.n, [&](const Range& range) {
      if (range.n <= kPiece) Finish(range);
    });
  }

  /** Sorts a range that fits the cache, and writes the result. */
  void SortInCache(const Range& range, Workspace& workspace) const {
    auto* records = workspace.records.template as<Record>();
    auto* scratch = workspace.scratch.template as<Record>();
    if constexpr (!kHasPayload) {
      if (range.place == kInput) {
        ReadCodes(kInput, range.first, range.n, records);
      } else {
        records = places_[range.place].codes + range.first;
      }
      WriteCodes(SortPiece(records, scratch, range.n, range.mask, workspace.counters), range.n, range.first);
    } else {
      Key codes[kBlock];
      Payload payloads[kBlock];
      for (size_t at = 0; at < range.n; at += kBlock) {
        const size_t count = std::min(kBlock, range.n - at);
        ReadCodes(range.place, range.first + at, count, codes);
        ReadPayloads(range, range.first + at, count, payloads);
        for (size_t i = 0; i < count; i++) records[at + i] = Traits::Make(codes[i], payloads[i]);
      }
      const Record* sorted = SortPiece(records, scratch, range.n, range.mask, workspace.counters);
      for (size_t at = 0; at < range.n; at += kBlock) {
        const size_t count = std::min(kBlock, range.n - at);
        for (size_t i = 0; i < count; i++) {
          codes[i] = static_cast<Key>(CodeOf(sorted[at + i]));
          payloads[i] = Traits::PayloadOf(sorted[at + i]);
        }
        WriteCodes(codes, count, range.first + at);
        WritePayloads(payloads, count, range.first + at);
      }
    }
  }

  /** Sorts codes of a sample into the workspace. @return the codes */
  const Key* Sample(const Range& range, size_t size, Workspace& workspace) const {
    auto* sample = workspace.records.template as<Key>();
    for (size_t i = 0; i < size; i++) {
      ReadCodes(range.place, range.first + range.n / size * i, 1, &sample[i]);
      sample[i] &= range.mask;
    }
    return SortPiece(sample, workspace.scratch.template as<Key>(), size, static_cast<Key>(-1), workspace.counters);
  }

  /**
   * Partitions all ranges once: those with many keys by all threads, the others at the same time, each by one thread.
   * Without memory, the ranges stay as they are.
   */
  void PartitionRanges() {
    const std::vector<Range> ranges = std::exchange(ranges_, {});
    const auto partition = [&](const Range& range, Threads& threads, Workspace& workspace) {
      if (!failed_ && Partition(range, threads, workspace)) return;
      failed_ = true;
      Add(range);
    };
    std::vector<Range> others;
    for (const Range& range : ranges) {
      if (range.n < arguments_.n / (2 * threads_.count())) {
        others.push_back(range);
      } else {
        partition(range, threads_, *own_);
      }
    }
    For(threads_, *own_, others.size(), [&](size_t i, Workspace& workspace) {
      OneThread one(threads_);
      partition(others[i], one, workspace);
    });
  }

  /**
   * Partitions a range that does not fit the cache.
   *
   * @return whether there was enough memory; if not, nothing has changed
   */
  bool Partition(const Range& range, Threads& threads, Workspace& own) {
    if (range.mask == 0) return AddSorted(range);
    const size_t slice = std::clamp(range.n / (size_t{threads.count()} * 4), kMinSlice, kMaxSlice) / kBlock * kBlock;
    const size_t slices = CeilDivide(range.n, slice);
    const auto [rises, falls] = OrderOf(range, slice, slices, threads);
    if (threads.stopped() || rises) return AddSorted(range);
    if (falls) return Reverse();
    const size_t sample_size = std::clamp(range.n / kKeysPerSample, kMinSample, kMaxSample);
    const Key* sample = Sample(range, sample_size, own);
    const bool is_whole = range.place == kInput && range.n == arguments_.n;
    if constexpr (!kHasPayload) {
      if (is_whole && window_ == static_cast<Key>(-1) &&
          SortFewValues(arguments_.keys, range.n, codec_, sample, sample_size, arguments_.sorted, threads)) {
        return true;
      }
    }
    const auto digit = BestDigit(sample, sample_size, range.mask, range.n, kPiece);
    const size_t bins = digit.bins;
    std::unique_ptr<uint32_t[]> counts(new (std::nothrow) uint32_t[slices * bins]());
    std::unique_ptr<size_t[]> starts(new (std::nothrow) size_t[slices * bins]);
    if (!counts || !starts) return false;
    const Key varying = Count(range, slice, slices, digit, counts.get(), threads);
    if (threads.stopped()) return AddSorted(range);
    const Place to = range.place == kOutput || (range.place == kInput && in_place()) ? kScratch : kOutput;
    if (!Reserve(to)) return false;
    const auto rest = static_cast<Key>(varying & ((Key{1} << digit.shift) - 1));
    size_t place = range.first;
    for (size_t bin = 0; bin < bins; bin++) {
      const size_t first = place;
      for (size_t s = 0; s < slices; s++) {
        starts[s * bins + bin] = place;
        place += counts[s * bins + bin];
      }
      const bool outermost = bin == 0 || bin == bins - 1;
      if (place > first) Add({first, place - first, range.origin, to, outermost ? varying : rest});
    }
    For(threads, own, slices, [&](size_t s, Workspace& workspace) {
      const size_t first = range.first + s * slice;
      Scatter(range, first, std::min(slice, range.end() - first), digit, &starts[s * bins], places_[to], workspace);
    });
    return true;
  }

  /** Adds a range to those that are left to sort. */
  void Add(const Range& range) {
    std::lock_guard<std::mutex> lock(guard_);
    if (range.n > kPiece) {
      ranges_.push_back(range);
    } else {
      pieces_.push_back(range);
    }
  }

  /** Adds a range that is in order, in pieces. */
  bool AddSorted(Range range) {
    std::lock_guard<std::mutex> lock(guard_);
    for (size_t left = range.n; left > 0; left -= range.n, range.first += range.n) {
      range.n = std::min(left, kPiece);
      range.mask = 0;
      pieces_.push_back(range);
    }
    return true;
  }

  /** Calls `use(range)` for the segments that start between two keys. */
  template <typename Use>
  void ForSegments(size_t from, size_t to, const Use& use) const {
    const uint32_t* end = arguments_.offsets + arguments_.segments;
    for (const uint32_t* at = std::lower_bound(arguments_.offsets, end, from); at < end && *at < to; at++) {
      const size_t first = at[0], last = at[1];
      // The program may change the offsets meanwhile: no access may leave the arrays.
      if (last <= first || last > arguments_.n) continue;
      use(Range{first, last - first, arguments_.from_segment ? first : 0, kInput, window_});
    }
  }

  /** Adds the segments that do not fit the cache to the ranges to sort. */
  void AddLargeSegments() {
    ForSegments(0, arguments_.n, [&](const Range& range) {
      if (range.n > kPiece) ranges_.push_back(range);
    });
  }

  void SortSmallSegments() {
    constexpr size_t kGroup = kPiece / 4;
    For(threads_, *own_, CeilDivide(arguments_.n, kGroup), [&](size_t g, Workspace& workspace) {
      Range rows[kRows];
      size_t count = 0;
      const auto sort_each = [&] {
        for (size_t row = 0; row < count; row++) SortOrFinish(rows[row], workspace);
        count = 0;
      };
      ForSegments(g * kGroup, (g + 1) * kGroup, [&](const Range& range) {
        if (range.n > kPiece) return;
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
    if (window_ != static_cast<Key>(-1) || threads_.stopped()) return false;
    auto* codes = workspace.records.template as<Key>();
    ReadCodes(kInput, row.first, kRows * row.n, codes);
    SortRows(codes, row.n);
    WriteCodes(codes, kRows * row.n, row.first);
    return true;
  }

  /** Returns whether the codes of a range rise, and whether they fall so that a reversal of the input is stable. */
  std::pair<bool, bool> OrderOf(const Range& range, size_t slice, size_t slices, Threads& threads) const {
    std::atomic<bool> rises{true}, falls{range.place == kInput && range.n == arguments_.n};
    threads.For(slices, [&](size_t s) {
      Key block[kBlock];
      const size_t first = range.first + s * slice, end = std::min(first + slice + 1, range.end());
      for (size_t at = first; at + 1 < end && (rises || falls); at += kBlock - 1) {
        const size_t n = std::min(kBlock, end - at);
        const Key* codes = CodesAt(range.place, at, n, block);
        bool up = true, down = true;
        for (size_t i = 1; i < n; i++) {
          const Key before = codes[i - 1] & range.mask, after = codes[i] & range.mask;
          up &= before <= after;
          down &= before > after || (!kHasPayload && codes[i - 1] == codes[i]);
        }
        if (!up) rises = false;
        if (!down) falls = false;
      }
    });
    return {rises, falls};
  }

  /** Counts the digits of each slice. @return the bits in which the codes differ */
  Key Count(const Range& range, size_t slice, size_t slices, Digit<Key> digit, uint32_t* counts, Threads& threads) {
    std::atomic<Key> varying{0};
    Key reference;
    ReadCodes(range.place, range.first, 1, &reference);
    const auto count = [&](size_t s, const auto& bin_of) {
      uint32_t* own = counts + s * digit.bins;
      Key block[kBlock], differs = 0;
      size_t at = range.first + s * slice;
      const size_t end = std::min(at + slice, range.end());
      for (; at < end; at += kBlock) {
        const size_t n = std::min(kBlock, end - at);
        const Key* codes = CodesAt(range.place, at, n, block);
        for (size_t i = 0; i < n; i++) differs |= codes[i] ^ reference;
        for (size_t i = 0; i < n; i++) own[bin_of(codes[i])]++;
      }
      varying |= differs;
    };
    threads.For(slices, [&](size_t s) {
      if (threads.stopped()) return;
      WithBins(digit, range.mask, [&](const auto& bin_of) { count(s, bin_of); });
    });
    return static_cast<Key>(varying & range.mask);
  }

  /** Moves a slice of a range to its bins. `starts` are the places of its first element in each bin. */
  void Scatter(const Range& range, size_t first, size_t n, const Digit<Key>& digit, const size_t* starts,
               const Columns& to, Workspace& workspace) {
    size_t* next = workspace.next;
    std::copy_n(starts, digit.bins, next);
    BinLines<Key> keys(workspace.key_lines.template as<Key>(), to.codes, arguments_.n);
    BinLines<Payload> values(workspace.payload_lines.template as<Payload>(), to.payloads, arguments_.n);
    WithBins(digit, range.mask, [&](const auto& bin_of) {
      Key block[kBlock];
      Payload payloads[kBlock];
      for (size_t at = first; at < first + n; at += kBlock) {
        const size_t count = std::min(kBlock, first + n - at);
        const Key* codes = CodesAt(range.place, at, count, block);
        ReadPayloads(range, at, count, payloads);
        // Copies that no store can change: the compiler keeps them in registers.
        auto own_keys = keys;
        auto own_values = values;
        const auto own_bin_of = bin_of;
        for (size_t i = 0; i < count; i++) {
          const size_t bin = own_bin_of(codes[i]), target = next[bin]++;
          own_keys.Put(bin, target, codes[i], starts);
          if constexpr (kHasPayload) own_values.Put(bin, target, payloads[i], starts);
        }
      }
    });
    keys.FlushAll(digit.bins, starts, next);
    if constexpr (kHasPayload) values.FlushAll(digit.bins, starts, next);
    EndStreamCopies();
  }

  /** Makes a place writable. */
  bool Reserve(Place place) {
    std::lock_guard<std::mutex> lock(guard_);
    Columns& columns = places_[place];
    const size_t n = arguments_.n;
    if (!columns.codes) {
      char* sorted = arguments_.sorted;
      if (place == kOutput && sorted && reinterpret_cast<uintptr_t>(sorted) % sizeof(Key) == 0) {
        columns.codes = reinterpret_cast<Key*>(sorted);
      } else {
        LargeMemory& memory = key_memory_[place];
        if (!memory.Allocate(n * sizeof(Key))) return false;
        columns.codes = memory.as<Key>();
      }
    }
    if constexpr (kHasPayload) {
      if (!columns.payloads) {
        char* moved = arguments_.moved;
        if (place == kOutput && arguments_.moved_bytes == sizeof(Payload) &&
            reinterpret_cast<uintptr_t>(moved) % sizeof(Payload) == 0) {
          columns.payloads = reinterpret_cast<Payload*>(moved);
        } else {
          LargeMemory& memory = payload_memory_[place];
          if (!memory.Allocate(n * sizeof(Payload))) return false;
          columns.payloads = memory.as<Payload>();
        }
      }
    }
    return true;
  }

  /** Writes the input in reverse. Slices at both ends are exchanged, since input and result may be the same memory. */
  bool Reverse() {
    const size_t half = (arguments_.n + 1) / 2;
    threads_.For(CeilDivide(half, kMinSlice), [&](size_t s) {
      if (threads_.stopped() && !in_place()) return;
      for (size_t at = s * kMinSlice; at < std::min((s + 1) * kMinSlice, half); at += kBlock) {
        ReverseBlocks(at, std::min(kBlock, std::min((s + 1) * kMinSlice, half) - at));
      }
    });
    return true;
  }
  void ReverseBlocks(size_t front, size_t n) const {
    const size_t back = arguments_.n - front - n;
    const Range whole{0, arguments_.n, 0, kInput, 0};
    Key low[kBlock], high[kBlock];
    Payload low_payloads[kBlock], high_payloads[kBlock];
    ReadCodes(kInput, front, n, low);
    ReadCodes(kInput, back, n, high);
    ReadPayloads(whole, front, n, low_payloads);
    ReadPayloads(whole, back, n, high_payloads);
    std::reverse(low, low + n);
    std::reverse(high, high + n);
    std::reverse(low_payloads, low_payloads + n);
    std::reverse(high_payloads, high_payloads + n);
    WriteCodes(low, n, back);
    WriteCodes(high, n, front);
    WritePayloads(low_payloads, n, back);
    WritePayloads(high_payloads, n, front);
  }

  /** Sorts all ranges that fit the cache, several small ones at a time. */
  void SortPieces() {
    std::vector<size_t> groups{0};
    size_t keys = 0;
    for (size_t i = 0; i < pieces_.size(); i++) {
      keys += pieces_[i].n;
      if (keys < kPiece / 4) continue;
      groups.push_back(i + 1);
      keys = 0;
    }
    if (groups.back() != pieces_.size()) groups.push_back(pieces_.size());
    For(threads_, *own_, groups.size() - 1, [&](size_t g, Workspace& workspace) {
      for (size_t i = groups[g]; i < groups[g + 1]; i++) SortOrFinish(pieces_[i], workspace);
    });
  }

  /**
   * Sorts a range that fits the cache. When the sort ends early, a result in the memory of the input stays a permutation
   * of it.
   */
  void SortOrFinish(const Range& range, Workspace& workspace) const {
    const bool stopped = threads_.stopped();
    if (stopped && !in_place()) return;
    if (range.mask == 0 || stopped) {
      Finish(range);
    } else {
      SortInCache(range, workspace);
    }
  }

  /** Whether a result has the memory of the input, which must then stay a permutation when the sort ends early. */
  bool in_place() const {
    return arguments_.sorted == arguments_.keys || (arguments_.moved && arguments_.moved == arguments_.values.data);
  }

  const SortArguments arguments_;
  const Codec<Key> codec_;
  /** Bits that the codes are compared by. */
  const Key window_;
  Threads& threads_;
  Columns places_[3];
  LargeMemory key_memory_[3], payload_memory_[3];
  /** Protects the ranges and pieces, and the places while they are reserved. */
  std::mutex guard_;
  std::vector<Range> ranges_, pieces_;
  /** Whether memory was exhausted. */
  std::atomic<bool> failed_{false};
  std::unique_ptr<Workspace> own_;
};

}  // namespace clsort::host

#endif  // CLSORT_NATIVE_HOST_RADIX_SORT_H_
