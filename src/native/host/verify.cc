#include <atomic>
#include <memory>
#include <new>

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
    index = static_cast<size_t>(std::upper_bound(offsets_, offsets_ + segments_, first) - offsets_) - 1;
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
  uint64_t codec[kCodecWords];
  Memory sorted, values, moved, offsets;
  size_t value_bytes = 0;
  bool from_segment = false;
  Elements findings;

  bool Read(Call& call) {
    if (!keys.Read(call, 2)) return false;
    const HostMemory words = call.Memory(4, sizeof codec);
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
    std::memcpy(codec, words.data, sizeof codec);
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
    const Codec<Key> code_of(codec);
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
    const Codec<Key> code_of(codec);
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

}  // namespace

void ExportHostVerify(Exports& exports) { ExportJobs<VerifyWork>(exports); }

}  // namespace clsort
