#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace clsort::host {

/**
 * Bounds of running sums of floats. The rounding error of the sum is compensated (A. Neumaier, 1974). As `CompensatedSum`
 * of src/sort/backend/scan-mismatch.ts.
 */
template <typename Float>
class SumBounds {
 public:
  explicit SumBounds(size_t n)
      : tolerance_(4 * std::max(1.0, std::log2(static_cast<double>(n))) * std::numeric_limits<Float>::epsilon()) {}

  void Add(double key) {
    if (!std::isfinite(key)) {
      special_ += key;
      return;
    }
    const double next = sum_ + key;
    error_ += std::abs(sum_) >= std::abs(key) ? sum_ - next + key : key - next + sum_;
    sum_ = next;
    magnitudes_ += std::abs(key);
  }

  bool Allow(double result) const {
    if (!(magnitudes_ < kLargest)) return true;
    if (special_ != 0) return std::isnan(special_) ? std::isnan(result) : result == special_;
    return std::abs(result - (sum_ + error_)) <= tolerance_ * magnitudes_;
  }

 private:
  static constexpr double kLargest = std::is_same_v<Float, float> ? 0x1p127 : std::numeric_limits<double>::max() / 2;
  const double tolerance_;
  double sum_ = 0, error_ = 0, magnitudes_ = 0;
  /** Sum of the infinities and NaNs. */
  double special_ = 0;
};

/** Bounds of running products of floats, as `ReferenceProduct` of src/sort/backend/scan-mismatch.ts. */
template <typename Float>
class ProductBounds {
 public:
  void Add(double key) {
    product_ *= key;
    factors_++;
    if (key != 0) exponent_range_ += std::abs(std::log2(std::abs(key)));
  }

  bool Allow(double result) const {
    constexpr double kRange = std::is_same_v<Float, float> ? 125 : 1021;
    if (!(exponent_range_ < kRange)) return true;
    return std::abs(result - product_) <= 2 * factors_ * std::numeric_limits<Float>::epsilon() * std::abs(product_);
  }

 private:
  double product_ = 1, factors_ = 0;
  /** How far partial products can be from 1, as a power of two. */
  double exponent_range_ = 0;
};

}  // namespace clsort::host
