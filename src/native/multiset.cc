#include <algorithm>
#include <cstring>
#include <vector>

#include "host_keys.h"
#include "policy.h"
#include "thread_pool.h"
#include "work_job.h"

namespace clsort {

namespace {

/** Prime modulus 2^61 - 1: the bits from 61 on are added to those below. */
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

/** Independent products, because each waits for its last multiplication. */
constexpr size_t kLanes = 4;

constexpr size_t kPoints = 2;

uint64_t Fold(uint64_t x) { return (x & kPrime) + (x >> 61); }

/**
 * Computes a * b modulo the prime for a < 2^61 + 8 and b < 2^63; the result is below 2^61 + 8 and may exceed the prime.
 */
uint64_t Multiply(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  auto low = static_cast<uint64_t>(product);
  auto high = static_cast<uint64_t>(product >> 64);
#else
  uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  uint64_t other = a0 * b1 + (middle & 0xffffffffu);
  uint64_t low = (other << 32) | (a0 * b0 & 0xffffffffu);
  uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32);
#endif
  return Fold((low & kPrime) + (low >> 61 | high << 3));
}

/** Point at which the polynomial of a multiset is evaluated, see src/io/checks/multiset.ts. */
struct Point {
  uint64_t r;
  /** Products of s and each value of the four high bits of a key. */
  uint64_t high[16];
};

/** Returns the factor of one key, below 2^63. */
template <typename Key>
uint64_t FactorOf(Key key, const Point& point) {
  return point.r + key;
}

template <>
uint64_t FactorOf(uint64_t key, const Point& point) {
  return point.r + (key & ((uint64_t{1} << 60) - 1)) + point.high[key >> 60];
}

template <typename Key>
void Product(const char* data, size_t keys, const Point* points, uint64_t* products) {
  uint64_t lanes[kPoints][kLanes];
  std::fill(&lanes[0][0], &lanes[0][0] + kPoints * kLanes, 1);
  auto take = [&](size_t i, size_t lane) {
    Key key = KeyAt<Key>(data, i);
    for (size_t p = 0; p < kPoints; p++) lanes[p][lane] = Multiply(lanes[p][lane], FactorOf(key, points[p]));
  };
  size_t i = 0;
  for (; i + kLanes <= keys; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; lane++) take(i + lane, lane);
  }
  for (; i < keys; i++) take(i, 0);
  for (size_t p = 0; p < kPoints; p++) {
    products[p] = 1;
    for (uint64_t one : lanes[p]) products[p] = Multiply(products[p], one);
  }
}

/** The points that a program passes as pairs of r and s. */
struct Points {
  explicit Points(const uint64_t* given) {
    for (size_t p = 0; p < kPoints; p++) {
      at[p].r = given[2 * p];
      for (uint64_t bits = 0; bits < 16; bits++) at[p].high[bits] = Multiply(given[2 * p + 1], bits);
    }
  }
  Point at[kPoints];
};

/** Multiplies the products by the factors of all keys. */
void MultiplyAll(Environment& environment, const HostSpan& host, size_t width, const Points& points, unsigned threads,
                 uint64_t (&products)[kPoints]) {
  const size_t n = host.bytes / width;
  std::vector<uint64_t> parts(CeilDivide(n, kMultisetKeys) * kPoints);
  auto product = ByWidth(width, [](auto key) { return Product<decltype(key)>; });
  ParallelForRanges(environment, threads, n, kMultisetKeys, [&](size_t first, size_t keys) {
    product(host.data + first * width, keys, points.at, &parts[first / kMultisetKeys * kPoints]);
  });
  for (size_t i = 0; i < parts.size(); i++) {
    products[i % kPoints] = Multiply(Fold(products[i % kPoints]), parts[i]);
  }
  for (uint64_t& one : products) one = Fold(one) % kPrime;
}

CLSORT_EXPORT(multisetAsync, "multisetAsync") {
  HostSpan host(call.LastingMemory(0, 0));
  size_t width = call.Size(1);
  HostMemory points = call.Memory(2, 2 * kPoints * sizeof(uint64_t));
  HostSpan to(call.LastingMemory(3, kPoints * sizeof(uint64_t)));
  auto threads = static_cast<unsigned>(call.Unsigned(4, CL_INVALID_VALUE, kMaxPoolThreads));
  if (!call.ok()) return;
  if (!CheckKeys(call, host.bytes, width)) return;
  uint64_t given[2 * kPoints];
  std::memcpy(given, points.data, sizeof given);
  for (uint64_t one : given) {
    if (one >= kPrime)
      return (void)call.Fail(CL_INVALID_VALUE, "expected points below 2^61 - 1 but got " + std::to_string(one));
  }
  StartWork(call, "multisetAsync",
            [&environment = call.environment(), host, width, points = Points(given), to, threads] {
              uint64_t products[kPoints];
              std::memcpy(products, to.data, sizeof products);
              MultiplyAll(environment, host, width, points, threads, products);
              std::memcpy(to.data, products, sizeof products);
            });
}

}  // namespace

}  // namespace clsort
