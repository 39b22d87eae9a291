#pragma once

#include <cstdint>
#include <cstring>

#include "number_text.h"

namespace clsort::host {

/** Decompresses blocks of the Snappy format (google/snappy, format_description.txt). */
class SnappyBlock {
 public:
  explicit SnappyBlock(Text from) : at_(from.begin), end_(from.end) {}

  /** @return whether the block is valid and has `size` bytes, which are written to `to` */
  bool Decompress(char* to, size_t size) {
    uint64_t declared = 0;
    if (!Varint(&declared) || declared != size) return false;
    char* out = to;
    char* const out_end = to + size;
    while (at_ < end_) {
      const auto tag = static_cast<uint8_t>(*at_++);
      uint64_t length = (tag >> 2) + 1;
      if ((tag & 3) == 0) {
        if (length > kMaxShort && (!Number(length - kMaxShort, &length) || ++length == 0)) return false;
        if (length > Left(at_, end_) || length > Left(out, out_end)) return false;
        std::memcpy(out, at_, length);
        at_ += length;
        out += length;
        continue;
      }
      uint64_t offset = 0;
      if ((tag & 3) == 1) {
        length = ((tag >> 2) & 7) + 4;
        if (!Number(1, &offset)) return false;
        offset |= static_cast<uint64_t>(tag >> 5) << 8;
      } else if (!Number((tag & 3) == 2 ? 2 : 4, &offset)) {
        return false;
      }
      if (offset == 0 || offset > Left(to, out) || length > Left(out, out_end)) return false;
      if (offset >= length) {
        std::memcpy(out, out - offset, length);
      } else {
        for (size_t i = 0; i < length; i++) out[i] = out[i - static_cast<ptrdiff_t>(offset)];
      }
      out += length;
    }
    return out == out_end;
  }

 private:
  /** Longest literal whose length is in the tag. */
  static constexpr uint64_t kMaxShort = 60;

  static size_t Left(const char* at, const char* end) { return static_cast<size_t>(end - at); }

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
