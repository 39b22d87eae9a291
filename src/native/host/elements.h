#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "../host_keys.h"
#include "../key_codec.h"
#include "job.h"

namespace clsort::host {

/** An argument with elements of one width, aligned to it. */
struct Elements {
  Memory memory;
  size_t n = 0;

  /** Throws if the argument is invalid. @return whether it is valid */
  bool Read(Call& call, int i, size_t width) {
    memory.Read(call, i, 0);
    if (!call.ok() || !CheckKeys(call, memory.bytes, width)) return false;
    if (!memory.given || reinterpret_cast<uintptr_t>(memory.data) % width != 0)
      return call.FailArgument(i, CL_INVALID_VALUE, "an array that is aligned to its elements");
    n = memory.bytes / width;
    return true;
  }

  /** Like `Read`, for at least `count` elements. */
  bool Read(Call& call, int i, size_t width, size_t count) {
    return Read(call, i, width) &&
           (n >= count || call.FailArgument(i, CL_INVALID_VALUE, "at least " + std::to_string(count) + " elements",
                                            std::to_string(n)));
  }

  template <typename Element>
  Element* as() const {
    return reinterpret_cast<Element*>(memory.data);
  }
};

/** Keys and their width: two adjacent arguments. */
struct Keys : Elements {
  size_t width = 0;
  bool Read(Call& call, int i) {
    width = call.Size(i + 1);
    return call.ok() && Elements::Read(call, i, width);
  }
};

/** Positions of 4 or 8 bytes, and their width: two adjacent arguments. */
struct Positions : Keys {
  /** Like `Elements::Read`, for at least `count` positions. */
  bool Read(Call& call, int i, size_t count) {
    if (!Keys::Read(call, i)) return false;
    if (width != sizeof(uint32_t) && width != sizeof(uint64_t))
      return call.FailArgument(i, CL_INVALID_VALUE, "positions of 4 or 8 bytes", std::to_string(width));
    return n >= count ||
           call.FailArgument(i, CL_INVALID_VALUE, "at least " + std::to_string(count) + " elements", std::to_string(n));
  }

  /** Throws if a position of n elements does not fit. @return whether it does */
  bool CanHold(Call& call, int i, size_t elements) const {
    return width == sizeof(uint64_t) || elements <= UINT32_MAX ||
           call.FailArgument(i, CL_INVALID_VALUE, "positions of 8 bytes", "positions of 4 bytes");
  }

  /** Calls `use` with a pointer to the positions. */
  template <typename Use>
  auto With(const Use& use) const {
    return width == sizeof(uint64_t) ? use(as<uint64_t>()) : use(as<uint32_t>());
  }
};

/** The words of a codec; those of the identity if they are not read. */
struct CodecArgument {
  uint64_t words[kCodecWords] = {0, 0, 0, 0, 0, 0, ~uint64_t{0}};

  bool Read(Call& call, int i) {
    const HostMemory memory = call.Memory(i, sizeof words);
    if (!call.ok()) return false;
    std::memcpy(words, memory.data, sizeof words);
    return true;
  }

  template <typename Key>
  Codec<Key> of(Key) const {
    return Codec<Key>::Whole(words);
  }
};

}  // namespace clsort::host
