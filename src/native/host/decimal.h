#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Decimals next to a double, by exact integer arithmetic: the C++ library of GCC 10, with which addons are published, prints none.

namespace clsort::host {

using Wide = unsigned __int128;

/** digits × 10^power. */
struct ShortDecimal {
  uint64_t digits;
  int power;
  bool operator==(const ShortDecimal& other) const { return digits == other.digits && power == other.power; }
  ShortDecimal WithoutZeros() const {
    ShortDecimal short_one = *this;
    for (; short_one.digits != 0 && short_one.digits % 10 == 0; short_one.digits /= 10) short_one.power++;
    return short_one;
  }
};

/** Digits that every double preserves, and digits that identify every double. */
constexpr int kLeastDigits = 15, kMostDigits = 17;

/** Decimals next to a positive finite double. */
class NextDecimals {
 public:
  explicit NextDecimals(double value) : value_(value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    mantissa_ = (bits & (kHidden - 1)) | kHidden;
    exponent_ = static_cast<int>(bits >> kFractionBits) - kBias;
    is_normal_ = bits >= kHidden;
    size_ = static_cast<int>(std::floor(std::log10(value))) + 1;
  }

  /** Returns the decimal of a number of digits that is nearest to the double; of two, the larger one. */
  ShortDecimal Nearest(int digits) const {
    bool is_same = false;
    return Round(digits, Tie::kUp, &is_same);
  }

  /** Returns the decimal with the fewest digits that is read as the double and is nearest to it; of two, the even one. */
  ShortDecimal Shortest() const {
    for (int digits = is_normal_ ? kLeastDigits : 1;; digits++) {
      bool is_same = false;
      const ShortDecimal found = Round(digits, Tie::kEven, &is_same);
      if (is_same || digits == kMostDigits) return found.WithoutZeros();
    }
  }

 private:
  enum class Tie { kUp, kEven };
  static constexpr int kFractionBits = 52, kBias = 1075, kMaxPower = 29;
  static constexpr uint64_t kHidden = uint64_t{1} << kFractionBits;

  static Wide PowerOf(unsigned base, int power) {
    Wide result = 1;
    for (int i = 0; i < power; i++) result *= base;
    return result;
  }

  /** Rounds to a number of digits. `is_same` receives whether the decimal is read as the double. */
  ShortDecimal Round(int digits, Tie tie, bool* is_same) const {
    const Wide most = PowerOf(10, digits);
    for (int power = size_ - digits;;) {
      ShortDecimal found{};
      if (!RoundTo(power, tie, &found, is_same)) return Printed(digits, tie, is_same);
      // The logarithm may have been rounded to a power of ten, and so may the double.
      if (found.digits >= most) {
        power++;
      } else if (found.digits * 10 <= most) {
        ShortDecimal finer{};
        bool is_finer_same = false;
        if (!RoundTo(power - 1, tie, &finer, &is_finer_same)) return Printed(digits, tie, is_same);
        if (finer.digits >= most) return found;
        return *is_same = is_finer_same, finer;
      } else {
        return found;
      }
    }
  }

  /** Rounds to a multiple of 10^power. @return whether 128 bits suffice */
  bool RoundTo(int power, Tie tie, ShortDecimal* found, bool* is_same) const {
    static const auto kFives = [] {
      std::array<Wide, kMaxPower + 1> fives{};
      for (int i = 0; i <= kMaxPower; i++) fives[i] = PowerOf(5, i);
      return fives;
    }();
    if (!is_normal_ || std::abs(power) > kMaxPower) return false;
    // In units in which all are whole: twice the double, twice 10^power, and the distance of two doubles.
    const int shift = exponent_ - power;
    Wide distance = kFives[std::max(-power, 0)], unit = kFives[std::max(power, 0)] << 1;
    if (shift > 0) distance <<= shift;
    if (shift < 0) unit <<= -shift;
    const Wide value = 2 * mantissa_ * distance, half = value + unit / 2;
    auto number = static_cast<uint64_t>(power > 0 ? half / unit : half >> (shift < 0 ? 1 - shift : 1));
    const auto is_read = [&](uint64_t decimal) {
      const Wide to = decimal * unit, off = to > value ? to - value : value - to;
      // Below a power of two, doubles are half as far apart.
      const Wide reach = mantissa_ == kHidden && to < value ? distance / 2 : distance;
      return off < reach || (off == reach && mantissa_ % 2 == 0);
    };
    if (tie == Tie::kEven && number * unit == half && is_read(number & ~uint64_t{1})) number &= ~uint64_t{1};
    if (tie == Tie::kEven && mantissa_ == kHidden && !is_read(number) && is_read(number + 1)) number++;
    *found = {number, power};
    *is_same = is_read(number);
    return true;
  }

  /** Rounds by the C library, which takes longer. */
  ShortDecimal Printed(int digits, Tie tie, bool* is_same) const {
    char text[32], *end = nullptr;
    const int size = std::snprintf(text, sizeof text, "%.*e", digits - 1, value_);
    uint64_t number = 0;
    const char* at = text;
    for (; at < text + size && *at != 'e'; at++) {
      if (*at >= '0' && *at <= '9') number = number * 10 + static_cast<uint64_t>(*at - '0');
    }
    const int power = std::atoi(at + 1) - digits + 1;
    const auto is_read = [&](uint64_t decimal) {
      // Without a decimal point, which depends on the locale.
      std::snprintf(text, sizeof text, "%llue%d", static_cast<unsigned long long>(decimal), power);
      return std::strtod(text, &end) == value_;
    };
    *is_same = is_read(number);
    if (tie == Tie::kEven && !*is_same && is_read(number + 1)) return *is_same = true, ShortDecimal{number + 1, power};
    return {number, power};
  }

  const double value_;
  uint64_t mantissa_;
  int exponent_, size_;
  bool is_normal_;
};

}  // namespace clsort::host
