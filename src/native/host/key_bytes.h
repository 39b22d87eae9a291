#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "../key_codec.h"
#include "csv_records.h"

namespace clsort::host {

/** Kinds of keys, with the numbers that src/io/formats/text/native-text.ts gives them. */
enum KeyKind : uint32_t { kUnsignedKey, kSignedKey, kFloatKey, kNumberKey, kTextKey };

/** Order of a key. */
struct KeyOrder {
  bool descending, nulls_first, nan_last;
};

/** Memory for codes, or none to count their bytes. */
class CodeOutput {
 public:
  CodeOutput(uint8_t* begin, uint8_t* end) : at_(begin), end_(end) {}
  void Put(uint8_t byte) {
    if (at_ < end_) *at_++ = byte;
    size_++;
  }
  /** Counts bytes without their values. @return whether there is no memory for them */
  bool Count(size_t bytes) {
    if (end_) return false;
    size_ += bytes;
    return true;
  }
  /** Bytes put so far, also those that did not fit. */
  size_t size() const { return size_; }

 private:
  uint8_t *at_, *end_;
  size_t size_ = 0;
};

/**
 * Writes bytes of variable length so that they sort before longer ones they begin: 0 as 0 255, with 0 0 at the end, as
 * src/io/formats/tables/key-codes.ts defines it.
 */
class EscapedOutput {
 public:
  EscapedOutput(CodeOutput* to, bool descending) : to_(to), flip_(descending ? 0xff : 0) {}
  void Put(uint8_t byte) {
    to_->Put(byte ^ flip_);
    if (byte == 0) to_->Put(0xff ^ flip_);
  }
  void End() {
    to_->Put(flip_);
    to_->Put(flip_);
  }

 private:
  CodeOutput* const to_;
  const uint8_t flip_;
};

/** Writes `exactCode` of src/io/formats/text/number-text.ts: bytes in the exact order of numbers of any length. */
inline void PutNumber(const NumberText& n, bool nan_last, EscapedOutput* to) {
  enum : uint8_t { kNanFirst, kLowest, kNegative, kMinusZero, kZero, kPositive, kHighest, kNanLast };
  if (n.special == Special::kNan) return to->Put(nan_last ? kNanLast : kNanFirst);
  if (n.special == Special::kInfinity) return to->Put(n.negative ? kLowest : kHighest);
  if (n.count == 0) return to->Put(n.negative ? kMinusZero : kZero);
  const uint8_t flip = n.negative ? 0xff : 0;
  to->Put(n.negative ? kNegative : kPositive);
  const uint64_t biased = static_cast<uint64_t>(n.exponent + (int64_t{1} << 31));
  for (int shift = 24; shift >= 0; shift -= 8) to->Put(static_cast<uint8_t>(biased >> shift) ^ flip);
  int pair = -1;
  for (const char* at = n.digits.begin; at < n.digits.end; at++) {
    if (*at == '.') continue;
    // A pair of digits is never encoded as 0, so a prefix sorts before longer numbers.
    if (pair < 0) {
      pair = 10 * (*at - '0') + 1;
    } else {
      to->Put(static_cast<uint8_t>(pair + (*at - '0')) ^ flip);
      pair = -1;
    }
  }
  if (pair >= 0) to->Put(static_cast<uint8_t>(pair) ^ flip);
  if (n.negative) to->Put(0xff);
}

template <typename Float, typename Bits>
bool ReadFloatBits(const NumberText& number, Bits* bits) {
  Float value = 0;
  if (!ReadFloat(number, &value)) return false;
  static_assert(sizeof value == sizeof *bits);
  std::memcpy(bits, &value, sizeof value);
  return true;
}

/** Reads a number of a kind. @return whether it is one, within the range of the type */
template <typename Bits>
bool ReadBits(const NumberText& number, KeyKind kind, Bits* bits) {
  if (kind == kFloatKey) {
    if constexpr (sizeof(Bits) == sizeof(double)) return ReadFloatBits<double>(number, bits);
    if constexpr (sizeof(Bits) == sizeof(float)) return ReadFloatBits<float>(number, bits);
    return false;
  }
  uint64_t magnitude = 0;
  if (!number.whole || (number.count == 0 && number.negative) || !ReadWhole(number, &magnitude)) return false;
  const uint64_t max = std::numeric_limits<Bits>::max() >> (kind == kSignedKey ? 1 : 0);
  if (number.negative && kind == kUnsignedKey) return false;
  if (magnitude > max && !(number.negative && magnitude == max + 1)) return false;
  *bits = static_cast<Bits>(number.negative ? uint64_t{0} - magnitude : magnitude);
  return true;
}

/** A key column of a text table. */
struct KeyColumn {
  TextValues values;
  KeyKind kind;
  size_t width;
  KeyOrder order;
  uint64_t codec[kCodecWords];

  /** Writes or counts the code of row i. @return whether the value needs no unescaping, and is valid if it was read */
  bool Put(size_t i, CodeOutput* to) const {
    const Text text = values[i];
    const uint8_t form = values.forms[i];
    // A quoted empty string is a text, but no number.
    const bool null = form == kMissing || (kind != kTextKey && text.size() == 0);
    to->Put(null == order.nulls_first ? 0 : 1);
    if (null) return true;
    if (form != kBare && form != kQuoted) return false;
    if (kind == kTextKey) {
      EscapedOutput escaped(to, order.descending);
      for (const char* at = text.begin; at < text.end; at++) escaped.Put(static_cast<uint8_t>(*at));
      escaped.End();
      return true;
    }
    if (kind != kNumberKey && to->Count(width)) return true;
    NumberText number;
    if (!ScanNumber(text, &number)) return false;
    if (kind == kNumberKey) {
      EscapedOutput escaped(to, order.descending);
      PutNumber(number, order.nan_last, &escaped);
      escaped.End();
      return true;
    }
    switch (width) {
      case 1: return PutCode<uint8_t>(number, to);
      case 2: return PutCode<uint16_t>(number, to);
      case 4: return PutCode<uint32_t>(number, to);
      default: return PutCode<uint64_t>(number, to);
    }
  }

 private:
  template <typename Bits>
  bool PutCode(const NumberText& number, CodeOutput* to) const {
    Bits bits = 0;
    if (!ReadBits(number, kind, &bits)) return false;
    const Bits code = Codec<Bits>::Whole(codec).CodeOf(bits);
    for (int shift = 8 * (sizeof(Bits) - 1); shift >= 0; shift -= 8) to->Put(static_cast<uint8_t>(code >> shift));
    return true;
  }
};

}  // namespace clsort::host
