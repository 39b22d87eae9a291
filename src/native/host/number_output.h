#pragma once

#include <cinttypes>

#include "key_bytes.h"

namespace clsort::host {

/** Bytes that the text of a number may take, with a line end. */
constexpr size_t kMostNumberBytes = 26;

/** Writes a double as src/io/formats/text/number-csv.ts does. @return the end of the text */
inline char* WriteDouble(double value, char* to) {
  constexpr int kLeastExponent = -4, kMostExponent = 15;
  const auto put = [&to](const char* text) { to = std::copy_n(text, std::strlen(text), to); };
  if (std::isnan(value)) return put("nan"), to;
  if (std::signbit(value)) *to++ = '-';
  if (std::isinf(value)) return put("inf"), to;
  if (value == 0) return put("0.0"), to;
  const ShortDecimal decimal = NextDecimals(std::fabs(value)).Shortest();
  char digits[20];
  const int count = std::snprintf(digits, sizeof digits, "%" PRIu64, decimal.digits);
  const int exponent = decimal.power + count - 1;
  if (exponent < kLeastExponent || exponent > kMostExponent) {
    *to++ = digits[0];
    if (count > 1) *to++ = '.';
    to = std::copy_n(digits + 1, count - 1, to);
    return to + std::snprintf(to, 6, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) {
    put("0.");
    to = std::fill_n(to, -exponent - 1, '0');
    return std::copy_n(digits, count, to);
  }
  const int whole = std::min(count, exponent + 1);
  to = std::copy_n(digits, whole, to);
  to = std::fill_n(to, exponent + 1 - whole, '0');
  *to++ = '.';
  if (count == whole) *to++ = '0';
  return std::copy_n(digits + whole, count - whole, to);
}

template <typename Integer>
char* WriteWhole(const char* from, char* to) {
  Integer value = 0;
  std::memcpy(&value, from, sizeof value);
  return std::to_chars(to, to + kMostNumberBytes, value).ptr;
}

/** Writes a number of a kind and width; the width of floats is 8. @return the end of the text */
inline char* WriteNumber(const char* from, KeyKind kind, size_t width, char* to) {
  if (kind == kFloatKey) {
    double value = 0;
    std::memcpy(&value, from, sizeof value);
    return WriteDouble(value, to);
  }
  const bool is_signed = kind == kSignedKey;
  switch (width) {
    case 1: return is_signed ? WriteWhole<int8_t>(from, to) : WriteWhole<uint8_t>(from, to);
    case 2: return is_signed ? WriteWhole<int16_t>(from, to) : WriteWhole<uint16_t>(from, to);
    case 4: return is_signed ? WriteWhole<int32_t>(from, to) : WriteWhole<uint32_t>(from, to);
    default: return is_signed ? WriteWhole<int64_t>(from, to) : WriteWhole<uint64_t>(from, to);
  }
}

}  // namespace clsort::host
