#pragma once

#include <mutex>

#include "columns.h"
#include "large_memory.h"
#include "piece_sort.h"
#include "workspace.h"

namespace clsort::host {

/** Payload type of keys that are sorted alone. */
struct None {};

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

/** Elements of a sort: the caller's keys and values, codes and payloads in memory for them, and the results. */
template <typename Key, typename Payload>
class SortElements {
 public:
  using Traits = RecordOf<Key, Payload>;
  using Record = typename Traits::Type;
  static constexpr bool kHasPayload = !std::is_same_v<Payload, None>;
  /** Maximum elements of a piece, and those where more than two threads share the sort: each of them gets pieces. */
  static constexpr size_t kPiece = kPieceBytes / sizeof(Record), kSharedPiece = kPiece / 4;

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

  explicit SortElements(const SortArguments& arguments)
      : arguments(arguments),
        codec(Codec<Key>::Whole(arguments.codec)),
        window(static_cast<Key>(arguments.codec[kMask])) {}

  const SortArguments arguments;
  const Codec<Key> codec;
  /** Bits that the codes are compared by. */
  const Key window;

  /** Whether codes are compared by all their bits. */
  bool whole_codes() const { return window == static_cast<Key>(-1); }
  /** Whether a result has the memory of the input, which must then stay a permutation when the sort ends early. */
  bool in_place() const {
    return arguments.sorted == arguments.keys || (arguments.moved && arguments.moved == arguments.values.data);
  }
  const Columns& at(Place place) const { return places_[place]; }

  /** Returns codes of a place: where they lie, if they lie there as codes, or in `block`. */
  const Key* CodesAt(Place place, size_t first, size_t n, Key* block) const {
    if (place != kInput) return places_[place].codes + first;
    const char* keys = arguments.keys + first * sizeof(Key);
    if (codec.identity && reinterpret_cast<uintptr_t>(keys) % sizeof(Key) == 0)
      return reinterpret_cast<const Key*>(keys);
    Encode(codec, keys, n, block);
    return block;
  }
  /** Reads codes of a range. */
  void ReadCodes(Place place, size_t first, size_t n, Key* codes) const {
    if (place == kInput) {
      Encode(codec, arguments.keys + first * sizeof(Key), n, codes);
    } else {
      std::memcpy(codes, places_[place].codes + first, n * sizeof(Key));
    }
  }
  void ReadPayloads(const Range& range, size_t first, size_t n, Payload* payloads) const {
    if constexpr (kHasPayload) {
      if (range.place == kInput) {
        arguments.values.Read(first, n, range.origin, payloads);
      } else {
        std::memcpy(payloads, places_[range.place].payloads + first, n * sizeof(Payload));
      }
    }
  }

  /** Writes sorted elements as results. */
  void WriteCodes(const Key* codes, size_t n, size_t first) const {
    if (arguments.sorted) Decode(codec, codes, n, arguments.sorted + first * sizeof(Key));
  }
  void WritePayloads(const Payload* payloads, size_t n, size_t first) const {
    if constexpr (kHasPayload) WriteValues(payloads, n, arguments.moved, arguments.moved_bytes, first);
  }

  /** Writes a range whose elements are in order, if they do not lie in the results already. */
  void Finish(const Range& range) const {
    const Columns& from = places_[range.place];
    const bool has_codes =
        !arguments.sorted || (codec.identity && reinterpret_cast<char*>(from.codes) == arguments.sorted);
    const bool has_payloads = !kHasPayload || reinterpret_cast<char*>(from.payloads) == arguments.moved;
    if (range.place == kOutput && has_codes && has_payloads) return;
    Key codes[kBlock];
    Payload payloads[kBlock];
    for (size_t at = range.first; at < range.end(); at += kBlock) {
      const size_t count = std::min(kBlock, range.end() - at);
      if (arguments.sorted) ReadCodes(range.place, at, count, codes);
      ReadPayloads(range, at, count, payloads);
      WriteCodes(codes, count, at);
      WritePayloads(payloads, count, at);
    }
  }

  /** Exchanges `n` elements from `front` on with those as far from the end, each in reverse. */
  void ReverseBlocks(size_t front, size_t n) const {
    const size_t back = arguments.n - front - n;
    const Range whole{0, arguments.n, 0, kInput, 0};
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

  /** Makes a place writable, with or without codes. */
  bool Reserve(Place place, bool needs_codes) {
    std::lock_guard<std::mutex> lock(guard_);
    Columns& columns = places_[place];
    const size_t n = arguments.n;
    if (needs_codes && !columns.codes) {
      char* sorted = arguments.sorted;
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
        char* moved = arguments.moved;
        if (place == kOutput && arguments.moved_bytes == sizeof(Payload) &&
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

 private:
  Columns places_[3];
  LargeMemory key_memory_[3], payload_memory_[3];
  /** Protects the places while they are reserved. */
  std::mutex guard_;
};

}  // namespace clsort::host
