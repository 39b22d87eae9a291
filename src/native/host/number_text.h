#pragma once

#include <locale.h>
#include <stdlib.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "decimal.h"

namespace clsort::host {

/** Bytes of a text. */
struct Text {
  const char* begin;
  const char* end;
  size_t size() const { return static_cast<size_t>(end - begin); }
};

enum class Special { kNone, kNan, kInfinity };

/** A number in a text, as `ScannedNumber` of src/io/formats/text/number-text.ts. Its value is 0.DIGITS × 10^exponent. */
struct NumberText {
  bool negative, whole, plain, json;
  Special special;
  /** First to last nonzero digit, and the number without its sign. */
  Text digits, number;
  /** Number of digits. */
  int64_t count;
  int64_t exponent;
  /** Value of the digits if there are at most `kLeastDigits`. */
  uint64_t head;
};

constexpr int64_t kMaxExponent = int64_t{1} << 30;

inline bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }
inline bool IsHexDigit(char byte) { return IsDigit(byte) || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f'); }
inline bool IsBlank(char byte) { return byte == ' ' || byte == '\t'; }

inline bool IsWord(Text text, const char* word) {
  if (text.size() != std::strlen(word)) return false;
  for (size_t i = 0; i < text.size(); i++) {
    const char byte = text.begin[i];
    if ((byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte) != word[i]) return false;
  }
  return true;
}

/** Reads the exponent from an `e` on. @return whether it is valid */
inline bool ReadExponent(Text text, int64_t* power) {
  const char* at = text.begin;
  if ((*at++ | 0x20) != 'e') return false;
  const bool negative = at < text.end && *at == '-';
  if (at < text.end && (*at == '-' || *at == '+')) at++;
  if (at >= text.end) return false;
  int64_t value = 0;
  for (; at < text.end; at++) {
    if (!IsDigit(*at)) return false;
    value = value * 10 + (*at - '0');
    if (value > kMaxExponent) return false;
  }
  *power = negative ? -value : value;
  return true;
}

/** Scans a number. @return whether the text is one; surrounding blanks are ignored */
inline bool ScanNumber(Text text, NumberText* n) {
  const char *at = text.begin, *end = text.end;
  while (at < end && IsBlank(*at)) at++;
  while (end > at && IsBlank(end[-1])) end--;
  if (at >= end) return false;
  n->plain = at == text.begin && end == text.end;
  n->special = Special::kNone;
  n->whole = true;
  n->negative = *at == '-';
  if (n->negative || *at == '+') {
    n->plain = n->plain && n->negative;
    if (++at >= end) return false;
  }
  n->count = n->exponent = 0;
  n->head = 0;
  if (!IsDigit(*at) && *at != '.') {
    const Text word{at, end};
    if (IsWord(word, "nan")) n->special = Special::kNan;
    if (IsWord(word, "inf") || IsWord(word, "infinity")) n->special = Special::kInfinity;
    n->whole = n->json = false;
    return n->special != Special::kNone;
  }
  const char *const start = at, *first = nullptr, *last = nullptr;
  int64_t taken = 0;
  bool behind = false, any = false;
  for (; at < end; at++) {
    if (*at == '.' && !behind) {
      behind = true;
      n->whole = false;
      continue;
    }
    if (!IsDigit(*at)) break;
    any = true;
    if (*at == '0' && taken == 0) {
      if (behind) n->exponent--;
      continue;
    }
    if (taken == 0) first = at;
    taken++;
    if (!behind) n->exponent++;
    if (*at != '0') {
      n->count = taken;
      last = at;
    }
  }
  if (!any) return false;
  n->number = {start, end};
  const bool split = behind && !(IsDigit(*start) && IsDigit(at[-1]));
  if (*start == '0' && start + 1 < end && IsDigit(start[1])) n->plain = false;
  if (at < end) {
    int64_t power = 0;
    if (!ReadExponent({at, end}, &power)) return false;
    n->whole = false;
    n->exponent += power;
  }
  n->json = n->plain && !split;
  if (n->count == 0) {
    n->exponent = 0;
    return true;
  }
  n->digits = {first, last + 1};
  if (n->count <= kLeastDigits) {
    for (const char* k = first; k <= last; k++) {
      if (*k != '.') n->head = n->head * 10 + static_cast<uint64_t>(*k - '0');
    }
  }
  return true;
}

/** Powers of ten that a double represents exactly. */
constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int64_t kMaxPower = 22;

/**
 * Parses the nearest float or double of the decimal that a text starts with, which has no sign.
 *
 * @param exponent whether an exponent belongs to it
 * @return its end; null if it is out of range, or JavaScript has to parse it
 */
template <typename Float>
const char* ReadDecimal(Text text, bool exponent, Float* value) {
#ifdef __cpp_lib_to_chars
  const auto format = exponent ? std::chars_format::general : std::chars_format::fixed;
  const auto [end, error] = std::from_chars(text.begin, text.end, *value, format);
  return error == std::errc() ? end : nullptr;
#else
  // The library of GCC 10 lacks this function. strtod requires a terminated text.
  constexpr size_t kMaxSize = 64;
  char copy[kMaxSize];
  size_t size = 0;
  const auto is_part = [&](size_t i) {
    const char byte = text.begin[i];
    if (IsDigit(byte) || byte == '.') return true;
    const char lower = byte | 0x20, before = i > 0 ? text.begin[i - 1] | 0x20 : '\0';
    return exponent && (lower == 'e' || ((byte == '+' || byte == '-') && before == 'e'));
  };
  for (; size < text.size() && is_part(size); size++) {
    if (size + 1 == kMaxSize) return nullptr;
    copy[size] = text.begin[size];
  }
  copy[size] = '\0';
  static const locale_t kLocale = newlocale(LC_ALL_MASK, "C", nullptr);
  char* end = nullptr;
  if constexpr (sizeof(Float) == sizeof(double)) {
    *value = strtod_l(copy, &end, kLocale);
  } else {
    *value = strtof_l(copy, &end, kLocale);
  }
  const bool is_zero = *value == 0 && std::any_of(copy, end, [](char c) { return c >= '1' && c <= '9'; });
  return end == copy || is_zero || std::isinf(*value) ? nullptr : text.begin + (end - copy);
#endif
}

/** Parses the nearest float or double. @return whether it is finite, or the text is a special number */
template <typename Float>
bool ReadFloat(const NumberText& n, Float* value) {
  const Float sign = n.negative ? -1 : 1;
  if (n.special == Special::kNan) return *value = std::nanf(""), true;
  if (n.special == Special::kInfinity) return *value = sign * INFINITY, true;
  if (n.count == 0) return *value = sign * 0, true;
  const int64_t power = n.exponent - n.count;
  if constexpr (sizeof(Float) == sizeof(double)) {
    // Both operands are exact, so the result is rounded only once.
    if (n.count <= kLeastDigits && power >= -kMaxPower && power <= kMaxPower) {
      const double head = static_cast<double>(n.head);
      *value = sign * (power < 0 ? head / kPowers[-power] : head * kPowers[power]);
      return true;
    }
  }
  if (ReadDecimal(n.number, true, value) != n.number.end) return false;
  *value *= sign;
  return std::isfinite(*value);
}

/** Reads the magnitude of a whole number of at most 20 digits. @return whether it fits */
inline bool ReadWhole(const NumberText& n, uint64_t* magnitude) {
  *magnitude = 0;
  if (n.count == 0) return true;
  if (n.exponent > 20) return false;
  // The digits of a whole number are adjacent, as are the zeros after the last nonzero one.
  uint64_t value = n.head;
  if (n.count > kLeastDigits) {
    value = 0;
    for (const char* k = n.digits.begin; k < n.digits.end; k++) {
      if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
          __builtin_add_overflow(value, static_cast<uint64_t>(*k - '0'), &value))
        return false;
    }
  }
  for (int64_t k = n.count; k < n.exponent; k++) {
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return false;
  }
  *magnitude = value;
  return true;
}

/** What is known of the numbers of a column, as in src/io/formats/text/column-profile.ts. */
struct NumberProfile {
  uint32_t rows, values, empty, numbers;
  /** Bits of `Flag`. */
  uint32_t flags;

  enum Flag : uint32_t {
    kWhole = 1,
    kPlain = 2,
    kJson = 4,
    kI64 = 8,
    kU64 = 16,
    kI128 = 32,
    kSafeDouble = 64,
    kExactAsDouble = 128,
    kAll = 255
  };

  void Drop(uint32_t flag) { flags &= ~flag; }
  void Include(const NumberProfile& other) {
    rows += other.rows;
    values += other.values;
    empty += other.empty;
    numbers += other.numbers;
    flags &= other.flags;
  }

  /** Adds a number. @return whether it did; otherwise JavaScript has to decide */
  bool Add(const NumberText& n) {
    constexpr int64_t kSafeExponent = 300, kI64Digits = 18, kI128Digits = 38;
    if (n.special == Special::kNone) {
      const bool safe = n.count <= kLeastDigits && n.exponent < kSafeExponent && n.exponent > -kSafeExponent;
      if (!safe && (flags & (kSafeDouble | kExactAsDouble)) && !AddLong(n)) return false;
    }
    values++;
    numbers++;
    if (!n.plain) Drop(kPlain);
    if (!n.json) Drop(kJson);
    if (!n.whole) Drop(kWhole);
    if (n.special != Special::kNone || !(flags & kWhole)) return true;
    if (n.count == 0 && n.negative) Drop(kWhole);  // -0 is not an integer
    if (n.negative && n.count > 0) Drop(kU64);
    if (n.exponent <= kI64Digits) return true;
    if (n.exponent > kI128Digits) Drop(kI128);
    uint64_t magnitude = 0;
    if (!ReadWhole(n, &magnitude)) {
      Drop(kI64 | kU64);
    } else if (magnitude > (uint64_t{1} << 63) - (n.negative ? 0 : 1)) {
      Drop(kI64);
    }
    return true;
  }

 private:
  /** Adds a number of many digits, or with a large exponent. @return whether it did */
  bool AddLong(const NumberText& n) {
    double value = 0;
    if (n.count > kMostDigits) return Drop(kSafeDouble | kExactAsDouble), true;
    if (!ReadFloat(n, &value) || value == 0) return false;
    ShortDecimal decimal{0, static_cast<int>(n.exponent - n.count)};
    for (const char* k = n.digits.begin; k < n.digits.end; k++) {
      if (*k != '.') decimal.digits = decimal.digits * 10 + static_cast<uint64_t>(*k - '0');
    }
    const NextDecimals next(std::fabs(value));
    if (next.Shortest() == decimal) return true;
    Drop(kSafeDouble);
    if (!(next.Nearest(static_cast<int>(n.count)) == decimal)) Drop(kExactAsDouble);
    return true;
  }
};

}  // namespace clsort::host
