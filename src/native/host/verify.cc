#include <atomic>
#include <memory>
#include <new>

#include "canonical.h"
#include "compact.h"
#include "elements.h"
#include "slices.h"

namespace clsort {

namespace {

using namespace host;

/** Mixes the bits of a word; no two words have the same result (splitmix64, S. Vigna, 2015). */
inline uint64_t Mix(uint64_t word) {
  word += 0x9e3779b97f4a7c15;
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}

/** Hashes the bytes of a value together with the hash of its key. */
inline uint64_t MixBytes(uint64_t hash, const char* data, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof hash) {
    uint64_t word = 0;
    std::memcpy(&word, data + at, std::min(sizeof word, bytes - at));
    hash = Mix(hash ^ word);
  }
  return hash;
}

/** The segment of an element; elements are visited in ascending order. One segment holds all without offsets. */
class SegmentCursor {
 public:
  size_t index = 0, begin = 0, end;

  SegmentCursor(const Memory& offsets, size_t n, size_t first)
      : end(n),
        offsets_(reinterpret_cast<const uint32_t*>(offsets.data)),
        segments_(offsets.given ? offsets.bytes / sizeof(uint32_t) - 1 : 0) {
    if (segments_ == 0) return;
    const auto begun = static_cast<size_t>(std::upper_bound(offsets_, offsets_ + segments_, first) - offsets_);
    index = std::max<size_t>(begun, 1) - 1;
    Set();
  }
  void MoveTo(size_t element) {
    for (; element >= end && index + 1 < segments_; Set()) index++;
  }

 private:
  void Set() {
    begin = offsets_[index];
    end = offsets_[index + 1];
  }

  const uint32_t* const offsets_;
  const size_t segments_;
};

/**
 * Verifies a result of `hostSortAsync`, whose arguments from 2 to 10 it takes: the order of its keys, and that it holds
 * the elements of the input in the same segments. Positions are checked exactly, other elements by sums of 64-bit
 * hashes. Argument 11 receives 1 or 0 for the order, and for the elements.
 */
struct VerifyWork {
  static constexpr char kName[] = "hostVerifyAsync";
  Keys keys;
  CodecArgument codec;
  Memory sorted, values, moved, offsets;
  size_t value_bytes = 0;
  bool from_segment = false;
  Elements findings;

  bool Read(Call& call) {
    if (!keys.Read(call, 2) || !codec.Read(call, 4)) return false;
    sorted.Read(call, 5, keys.memory.bytes);
    values.Read(call, 6, 0);
    value_bytes = call.SizeOr0(7);
    if (!call.ok()) return false;
    if (call.Has(8) && value_bytes != 4 && value_bytes != 8 && !values.given)
      return call.Fail(CL_INVALID_VALUE, "expected positions of 4 or 8 bytes");
    if (value_bytes > SIZE_MAX / (keys.n + 1)) return call.Fail(CL_INVALID_VALUE, "expected short values");
    if (values.given) values.Read(call, 6, keys.n * value_bytes);
    moved.Read(call, 8, keys.n * value_bytes);
    offsets.Read(call, 9, sizeof(uint32_t));
    from_segment = call.Bool(10);
    if (!call.ok()) return false;
    if (offsets.given && reinterpret_cast<uintptr_t>(offsets.data) % alignof(uint32_t) != 0)
      return call.Fail(CL_INVALID_VALUE, "expected aligned 32-bit offsets");
    return findings.Read(call, 11, sizeof(uint64_t), 2);
  }

  bool Run(Threads& threads) const {
    std::atomic<bool> ordered{true}, complete{true};
    const bool enough = ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      if (moved.given && !values.given) return CheckPositions<Key>(threads, &ordered, &complete);
      if (sorted.given) CheckElements<Key>(threads, &ordered, &complete);
      return true;
    });
    findings.as<uint64_t>()[0] = ordered;
    findings.as<uint64_t>()[1] = complete;
    return enough;
  }

 private:
  /** Returns the position of result i in the input; `SIZE_MAX` if it is not in the segment of i. */
  size_t PositionAt(size_t i, const SegmentCursor& segment) const {
    const uint64_t own = value_bytes == 8 ? KeyAt<uint64_t>(moved.data, i) : KeyAt<uint32_t>(moved.data, i);
    const uint64_t position = own + (from_segment ? segment.begin : 0);
    return position >= segment.begin && position < segment.end && position < keys.n ? position : SIZE_MAX;
  }

  template <typename Key>
  bool CheckPositions(Threads& threads, std::atomic<bool>* ordered, std::atomic<bool>* complete) const {
    std::unique_ptr<std::atomic<bool>[]> seen(new (std::nothrow) std::atomic<bool>[keys.n]());
    if (!seen) return false;
    const Key* const from = keys.as<Key>();
    const Codec<Key> code_of(codec.words);
    ForSlices(keys.n, threads, [&](size_t, size_t first, size_t last) {
      SegmentCursor segment(offsets, keys.n, first);
      size_t previous = SIZE_MAX;
      if (first > segment.begin) previous = PositionAt(first - 1, segment);
      for (size_t i = first; i < last; i++) {
        segment.MoveTo(i);
        const size_t position = PositionAt(i, segment);
        if (position == SIZE_MAX || seen[position].exchange(true, std::memory_order_relaxed)) {
          *ordered = *complete = false;
          return;
        }
        if (sorted.given && KeyAt<Key>(sorted.data, i) != from[position]) *complete = false;
        if (i > segment.begin && previous != SIZE_MAX) {
          const Key code = code_of.CodeOf(from[position]), before = code_of.CodeOf(from[previous]);
          if (code < before || (code == before && position < previous)) *ordered = false;
        }
        previous = position;
      }
    });
    return true;
  }

  template <typename Key>
  void CheckElements(Threads& threads, std::atomic<bool>* ordered, std::atomic<bool>* complete) const {
    const Key* const from = keys.as<Key>();
    const Codec<Key> code_of(codec.words);
    const size_t bytes = values.given && moved.given ? value_bytes : 0;
    std::atomic<uint64_t> difference{0};
    ForSlices(keys.n, threads, [&](size_t, size_t first, size_t last) {
      SegmentCursor segment(offsets, keys.n, first);
      Key before = first > 0 ? code_of.CodeOf(KeyAt<Key>(sorted.data, first - 1)) : 0;
      uint64_t sum = 0;
      bool rises = true;
      for (size_t i = first; i < last; i++) {
        segment.MoveTo(i);
        const Key key = KeyAt<Key>(sorted.data, i), code = code_of.CodeOf(key);
        rises &= code >= before || i == segment.begin;
        before = code;
        const uint64_t seed = Mix(segment.index);
        sum += MixBytes(Mix(seed ^ from[i]), values.data + i * bytes, bytes);
        sum -= MixBytes(Mix(seed ^ key), moved.data + i * bytes, bytes);
      }
      if (!rises) *ordered = false;
      difference += sum;
    });
    if (difference != 0) *complete = false;
  }
};

/**
 * Verifies selected keys. Arguments from 2: keys, width, mask or null, codec, range (low, high), inverted, rest, result,
 * the reported number of selected keys, findings: their number, and 1 if the result has the right keys in order.
 */
struct VerifySelectionWork {
  static constexpr char kName[] = "hostVerifySelectionAsync";
  Keys keys;
  Memory mask;
  CodecArgument codec;
  Elements range, result, findings;
  bool inverted = false, rest = false;
  size_t reported = 0;

  bool Read(Call& call) {
    if (!keys.Read(call, 2)) return false;
    mask.Read(call, 4, keys.n);
    inverted = call.Bool(7);
    rest = call.Bool(8);
    reported = call.Size(10);
    return codec.Read(call, 5) && range.Read(call, 6, sizeof(uint64_t), 2) && result.Read(call, 9, keys.width) &&
           findings.Read(call, 11, sizeof(uint64_t), 2);
  }
  bool Run(Threads& threads) const {
    ByWidth(keys.width, [&](auto key) {
      using Key = decltype(key);
      if (mask.given) return Check<Key>(MaskSelector{reinterpret_cast<const uint8_t*>(mask.data)}, threads);
      const uint64_t* bounds = range.as<uint64_t>();
      Check<Key>(RangeSelector<Key>{keys.as<Key>(), codec.of(key), bounds[0], bounds[1], inverted}, threads);
    });
    return true;
  }

 private:
  template <typename Key, typename Selector>
  void Check(const Selector& selector, const Threads& threads) const {
    const Key *from = keys.as<Key>(), *to = result.as<Key>();
    size_t chosen = 0, others = reported;
    bool same = true, selected[kBlock];
    for (size_t first = 0; first < keys.n && !threads.stopped(); first += kBlock) {
      const size_t count = std::min(kBlock, keys.n - first);
      selector(first, count, selected);
      for (size_t i = 0; i < count; i++) {
        const size_t place = selected[i] ? chosen++ : others++;
        if (selected[i] || rest) same &= place < result.n && to[place] == from[first + i];
      }
    }
    findings.as<uint64_t>()[0] = chosen;
    findings.as<uint64_t>()[1] = same;
  }
};

/**
 * Verifies distinct keys and how often each occurs. Arguments from 2: keys, width, codec, infinity (as for
 * `hostCanonicalAsync`), distinct keys, counts, findings: distinct keys out of order or with the count 0, and 1 if the
 * counted keys are those of the input, which sums of 64-bit hashes compare.
 */
struct VerifyDistinctWork {
  static constexpr char kName[] = "hostVerifyDistinctAsync";
  Keys keys;
  CodecArgument codec;
  uint64_t infinity = 0;
  Elements distinct, counts, findings;

  bool Read(Call& call) {
    infinity = call.Unsigned(5, CL_INVALID_VALUE);
    return keys.Read(call, 2) && codec.Read(call, 4) && distinct.Read(call, 6, keys.width) &&
           counts.Read(call, 7, sizeof(uint32_t), distinct.n) && findings.Read(call, 8, sizeof(uint64_t), 2);
  }
  bool Run(Threads& threads) const {
    ByWidth(keys.width, [&](auto key) { Check<decltype(key)>(threads); });
    return true;
  }

 private:
  template <typename Key>
  void Check(Threads& threads) const {
    const Key *from = keys.as<Key>(), *found = distinct.as<Key>();
    const auto* times = counts.as<uint32_t>();
    const Codec<Key> code_of = codec.of(Key{});
    const auto canonical = [limit = static_cast<Key>(infinity)](Key key) {
      return limit ? CanonicalOf(key, limit) : key;
    };
    std::atomic<uint64_t> wrong{0}, difference{0};
    ForSlices(keys.n, threads, [&](size_t, size_t first, size_t last) {
      uint64_t sum = 0;
      for (size_t i = first; i < last; i++) sum += Mix(canonical(from[i]));
      difference += sum;
    });
    ForSlices(distinct.n, threads, [&](size_t, size_t first, size_t last) {
      uint64_t sum = 0, own = 0;
      for (size_t i = first; i < last; i++) {
        const Key key = canonical(found[i]);
        const bool rises = i == 0 || code_of.CodeOf(canonical(found[i - 1])) < code_of.CodeOf(key);
        own += times[i] == 0 || !rises;
        sum += times[i] * Mix(key);
      }
      wrong += own;
      difference -= sum;
    });
    findings.as<uint64_t>()[0] = wrong;
    findings.as<uint64_t>()[1] = difference == 0;
  }
};

/**
 * Verifies the first keys of each segment. Arguments from 2: keys, width, codec, where the segments begin and the last
 * one ends (u32), the same of their results, maximum number of results of a segment, results, positions (u32), whether
 * positions count from the begin of their segment, findings: segments with more or fewer results, results that are out
 * of order or differ from the key at their position, and keys that are not after the last result of their segment.
 */
struct VerifyTopWork {
  static constexpr char kName[] = "hostVerifyTopAsync";
  Keys keys;
  CodecArgument codec;
  Elements offsets, begins, top, positions, findings;
  size_t k = 0;
  bool from_segment = false;

  bool Read(Call& call) {
    k = call.Size(7);
    from_segment = call.Bool(10);
    if (!keys.Read(call, 2) || !codec.Read(call, 4)) return false;
    if (!offsets.Read(call, 5, sizeof(uint32_t), 2) || !begins.Read(call, 6, sizeof(uint32_t))) return false;
    if (begins.n != offsets.n) return call.Fail(CL_INVALID_VALUE, "expected as many offsets of results as of keys");
    return top.Read(call, 8, keys.width) && positions.Read(call, 9, sizeof(uint32_t), top.n) &&
           findings.Read(call, 11, sizeof(uint64_t), 3);
  }
  bool Run(Threads& threads) const {
    ByWidth(keys.width, [&](auto key) { Check<decltype(key)>(threads); });
    return true;
  }

 private:
  template <typename Key>
  void Check(Threads& threads) const {
    const auto *from = offsets.as<uint32_t>(), *to = begins.as<uint32_t>();
    const size_t segments = offsets.n - 1;
    uint64_t* const wrong = findings.as<uint64_t>();
    wrong[0] = to[0] != 0 || from[segments] > keys.n;
    for (size_t s = 0; s < segments; s++) {
      wrong[0] += from[s + 1] < from[s] || size_t{to[s + 1]} - to[s] != std::min<size_t>(from[s + 1] - from[s], k);
    }
    wrong[0] += to[segments] != top.n;
    if (wrong[0] > 0) return;
    const Codec<Key> code_of(codec.words);
    wrong[1] = Sum(top.n, begins, threads, [&](size_t i, const SegmentCursor& segment) {
      const size_t position = PositionAt(i, segment);
      if (position < from[segment.index] || position >= from[segment.index + 1] || position >= keys.n) return true;
      const Key own = top.as<Key>()[i];
      if (keys.as<Key>()[position] != own) return true;
      if (i == segment.begin) return false;
      const Key code = code_of.CodeOf(own), before = code_of.CodeOf(top.as<Key>()[i - 1]);
      return code < before || (code == before && position <= PositionAt(i - 1, segment));
    });
    if (wrong[1] > 0) return;
    wrong[2] = Sum(keys.n, offsets, threads, [&](size_t i, const SegmentCursor& segment) {
      const size_t begin = to[segment.index], end = to[segment.index + 1];
      if (begin >= end || end > top.n) return false;
      const Key code = code_of.CodeOf(keys.as<Key>()[i]), last = code_of.CodeOf(top.as<Key>()[end - 1]);
      return code < last || (code == last && i <= positions.as<uint32_t>()[end - 1] + BaseOf(segment.index));
    });
  }
  size_t BaseOf(size_t segment) const { return from_segment ? offsets.as<uint32_t>()[segment] : 0; }
  size_t PositionAt(size_t i, const SegmentCursor& segment) const {
    return positions.as<uint32_t>()[i] + BaseOf(segment.index);
  }

  /** Counts the elements for which `holds(element, segment)`. */
  template <typename Holds>
  static uint64_t Sum(size_t n, const Elements& segments, Threads& threads, const Holds& holds) {
    std::atomic<uint64_t> sum{0};
    ForSlices(n, threads, [&](size_t, size_t first, size_t last) {
      SegmentCursor segment(segments.memory, n, first);
      uint64_t own = 0;
      for (size_t i = first; i < last; i++) {
        segment.MoveTo(i);
        own += holds(i, segment);
      }
      sum += own;
    });
    return sum;
  }
};

const ExportedJobs<VerifyWork, VerifySelectionWork, VerifyDistinctWork, VerifyTopWork> kJobs;

}  // namespace

}  // namespace clsort
