#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "number_text.h"

namespace clsort::host {

/** Decompresses blocks of the Snappy format (google/snappy, format_description.txt). */
class SnappyBlock {
 public:
  explicit SnappyBlock(Text from) : at_(from.begin), end_(from.end) {}

  /**
   * Writes the first `n` bytes to `to`.
   *
   * @return whether the block has `size` bytes and is valid up to byte `n`
   */
  bool Decompress(char* to, size_t n, size_t size) {
    uint64_t declared = 0;
    if (!Varint(&declared) || declared != size || n > size) return false;
    char* out = to;
    char* const out_end = to + n;
    while (out < out_end) {
      out = ShortElements(to, out, out_end);
      if (out < out_end && !Element(to, &out, out_end, n < size)) return false;
    }
    return n < size || at_ == end_;
  }

 private:
  /** Longest literal whose length is in the tag. */
  static constexpr uint64_t kMaxShort = 60;

  /** Bytes that are copied at a time. */
  static constexpr size_t kStep = 16, kHalfStep = 8;

  static size_t Left(const char* at, const char* end) { return static_cast<size_t>(end - at); }

  /** More than the bytes of a short element, and those that a copy may read or write beyond it. */
  static constexpr size_t kSlack = 96;

  /**
   * Processes short elements until another one or the last bytes.
   *
   * @return the end of what is written
   */
  char* ShortElements(const char* to, char* out, const char* out_end) {
    const char* at = at_;
    while (kSlack <= Left(at, end_) && kSlack <= Left(out, out_end)) {
      const auto tag = static_cast<uint8_t>(*at);
      const size_t kind = tag & 3, upper = tag >> 2;
      if (kind == 0) {
        if (upper >= kStep) break;
        std::memcpy(out, at + 1, kStep);
        at += upper + 2;
        out += upper + 1;
        continue;
      }
      const size_t low = static_cast<uint8_t>(at[1]), high = static_cast<uint8_t>(at[2]);
      const size_t offset = low | (kind == 1 ? upper >> 3 : high) << 8;
      if (kind == 3 || offset < kHalfStep || offset > Left(to, out)) break;
      const size_t length = kind == 1 ? (upper & 7) + 4 : upper + 1;
      const char* from = out - offset;
      CopyHalfStep(out, from);
      CopyHalfStep(out + kHalfStep, from + kHalfStep);
      for (size_t k = kStep; k < length; k += kHalfStep) CopyHalfStep(out + k, from + k);
      at += 1 + kind;
      out += length;
    }
    at_ = at;
    return out;
  }

  /** Processes an element. @return false if it is damaged, or exceeds the output and that is not `partial` */
  bool Element(const char* to, char** out, const char* out_end, bool partial) {
    if (at_ == end_) return false;
    const auto tag = static_cast<uint8_t>(*at_++);
    uint64_t length = (tag >> 2) + 1;
    uint64_t offset = 0;
    switch (tag & 3) {
      case 0:
        if (length > kMaxShort && (!Number(length - kMaxShort, &length) || ++length == 0)) return false;
        if (length > Left(at_, end_)) return false;
        break;
      case 1:
        length = ((tag >> 2) & 7) + 4;
        if (!Number(1, &offset)) return false;
        offset |= static_cast<uint64_t>(tag >> 5) << 8;
        break;
      case 2:
        if (!Number(2, &offset)) return false;
        break;
      default:
        if (!Number(4, &offset)) return false;
    }
    const uint64_t wanted = std::min<uint64_t>(length, Left(*out, out_end));
    if (wanted < length && !partial) return false;
    if ((tag & 3) == 0) {
      std::memcpy(*out, at_, wanted);
      at_ += length;
    } else if (offset == 0 || offset > Left(to, *out)) {
      return false;
    } else {
      for (size_t i = 0; i < wanted; i++) (*out)[i] = (*out - offset)[i];  // the bytes may overlap
    }
    *out += wanted;
    return true;
  }

  static void CopyHalfStep(char* out, const char* from) {
    uint64_t bytes;
    std::memcpy(&bytes, from, kHalfStep);
    std::memcpy(out, &bytes, kHalfStep);
  }

  bool Varint(uint64_t* value) {
    for (int shift = 0; shift < 35 && at_ < end_; shift += 7) {
      const auto byte = static_cast<uint8_t>(*at_++);
      *value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }

  /** Reads a little-endian number. */
  bool Number(size_t bytes, uint64_t* value) {
    if (bytes > Left(at_, end_)) return false;
    *value = 0;
    for (size_t k = 0; k < bytes; k++) *value |= static_cast<uint64_t>(static_cast<uint8_t>(*at_++)) << 8 * k;
    return true;
  }

  const char* at_;
  const char* const end_;
};

}  // namespace clsort::host
