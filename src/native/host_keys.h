#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "call.h"

namespace clsort {

/** Returns whether keys can have this width in bytes; values can also have 16 bytes. */
inline bool IsKeyWidth(size_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

/** Throws unless the width is valid and divides the number of bytes. @return whether both hold */
inline bool CheckKeys(Call& call, size_t bytes, size_t width) {
  if (!IsKeyWidth(width))
    return call.Fail(CL_INVALID_VALUE, "expected keys of 1, 2, 4 or 8 bytes but got " + std::to_string(width));
  return bytes % width == 0 ||
         call.Fail(CL_INVALID_VALUE, "expected a whole number of keys but got " + std::to_string(bytes) + " bytes");
}

/** Calls `use(key)` with a zero of the unsigned type of the width, for code that is compiled for each width. */
template <typename Use>
auto ByWidth(size_t width, const Use& use) {
  switch (width) {
    case 1: return use(uint8_t{});
    case 2: return use(uint16_t{});
    case 4: return use(uint32_t{});
    default: return use(uint64_t{});
  }
}

/** Returns key `i` of an array without alignment. */
template <typename Key>
Key KeyAt(const char* data, size_t i) {
  Key key;
  std::memcpy(&key, data + i * sizeof key, sizeof key);
  return key;
}

}  // namespace clsort
