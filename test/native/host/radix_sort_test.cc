// Sorts of the host engine without Node, for sanitizers that Node does not run with: scripts/sanitize-threads.mjs.
// Prints the number of sorts; ends with 1 at the first wrong result.

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "../../../src/native/host/radix_sort.h"

/** Allocations before one that fails; the linker replaces the functions by these (`--wrap`). */
static std::atomic<long> allocations_left{LONG_MAX};

extern "C" {
void* __real_aligned_alloc(size_t alignment, size_t bytes);
void* __real__ZnamRKSt9nothrow_t(size_t bytes, const std::nothrow_t& tag);
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  return allocations_left-- == 0 ? nullptr : __real_aligned_alloc(alignment, bytes);
}
void* __wrap__ZnamRKSt9nothrow_t(size_t bytes, const std::nothrow_t& tag) {
  return allocations_left-- == 0 ? nullptr : __real__ZnamRKSt9nothrow_t(bytes, tag);
}
}

namespace {

using namespace clsort;
using namespace clsort::host;

/** Threads that are started for each loop. */
class NewThreads final : public Threads {
 public:
  NewThreads(unsigned count, bool stops) : count_(count), stops_(stops) {}
  unsigned count() const override { return count_; }
  bool stopped() const override { return stops_ && ++asked_ > kCallsBeforeStop; }
  void For(size_t n, const std::function<void(size_t)>& work) override {
    std::atomic<size_t> next{0};
    const auto loop = [&] {
      for (size_t i; (i = next++) < n;) work(i);
    };
    std::vector<std::thread> others;
    for (unsigned t = 1; t < count_ && t < n; t++) others.emplace_back(loop);
    loop();
    for (auto& one : others) one.join();
  }

 private:
  static constexpr int kCallsBeforeStop = 20;
  const unsigned count_;
  const bool stops_;
  mutable std::atomic<int> asked_{0};
};

/** Returns the codec of unsigned or of floating-point keys, see src/keys/key-codec.ts. */
template <typename Key>
std::vector<uint64_t> CodecWords(bool is_float, bool descending, Key window) {
  constexpr unsigned kBits = 8 * sizeof(Key);
  const uint64_t ones = ~uint64_t{0} >> (64 - kBits), top = uint64_t{1} << (kBits - 1);
  const uint64_t nans = kBits == 64 ? (uint64_t{1} << 52) - 1 : (uint64_t{1} << 23) - 1;
  if (!is_float) return {0, 0, 0, ones, 0, descending, window};
  return {top, ones, nans, ones - 2 * nans, 0, descending, window};
}

template <typename Key>
std::vector<Key> MakeKeys(size_t n, int kind) {
  std::mt19937_64 random(n + kind);
  std::vector<Key> keys(n);
  for (size_t i = 0; i < n; i++) {
    const uint64_t bits = random();
    uint64_t key = bits;
    if (kind == 1 && sizeof(Key) == 8) {
      double value = static_cast<double>(bits >> 11) * 0x1p-53;
      std::memcpy(&key, &value, sizeof key);
    }
    if (kind == 2) key = i;
    if (kind == 3) key = n - i;
    if (kind == 4) key = bits & 3;
    if (kind == 5) key = bits & random() & random() & random();
    if (kind == 6) key = static_cast<Key>(bits) >> (random() % 3 * sizeof(Key) * 5 / 2);  // no digit spreads the keys evenly
    keys[i] = static_cast<Key>(key);
  }
  return keys;
}

int sorts = 0;

[[noreturn]] void Fail(const char* what, size_t n, int kind, unsigned threads) {
  std::printf("wrong %s: %zu keys of kind %d, %u threads\n", what, n, kind, threads);
  std::exit(1);
}

/** Sorts keys and their positions, and compares them with a stable sort. */
template <typename Key>
void Test(size_t n, int kind, unsigned threads, bool is_float, bool descending, Key window) {
  const auto keys = MakeKeys<Key>(n, kind);
  const auto words = CodecWords<Key>(is_float, descending, window);
  const Codec<Key> codec(words.data());
  std::vector<uint32_t> expected(n), positions(n);
  for (size_t i = 0; i < n; i++) expected[i] = static_cast<uint32_t>(i);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](uint32_t a, uint32_t b) { return codec.CodeOf(keys[a]) < codec.CodeOf(keys[b]); });
  std::vector<Key> sorted(keys);
  SortArguments arguments{};
  arguments.keys = arguments.sorted = reinterpret_cast<char*>(sorted.data());
  arguments.n = n;
  arguments.codec = words.data();
  NewThreads pool(threads, false);
  if (!RadixSort<Key, None>(arguments, pool).Run()) Fail("memory", n, kind, threads);
  arguments.keys = reinterpret_cast<const char*>(keys.data());
  arguments.sorted = nullptr;
  arguments.moved = reinterpret_cast<char*>(positions.data());
  arguments.moved_bytes = sizeof(uint32_t);
  if (!RadixSort<Key, uint32_t>(arguments, pool).Run()) Fail("memory", n, kind, threads);
  if (positions != expected) Fail("positions", n, kind, threads);
  const Key all = static_cast<Key>(~Key{0});
  for (size_t i = 0; i < n; i++) {
    if (window == all ? sorted[i] != keys[expected[i]] : codec.CodeOf(sorted[i]) != codec.CodeOf(keys[expected[i]])) {
      Fail("keys", n, kind, threads);
    }
  }
  sorts += 2;

  // A sort in place that is stopped early leaves a permutation.
  std::vector<Key> stopped(keys);
  arguments.keys = arguments.sorted = reinterpret_cast<char*>(stopped.data());
  arguments.moved = nullptr;
  NewThreads stopping(threads, true);
  RadixSort<Key, None>(arguments, stopping).Run();
  std::sort(stopped.begin(), stopped.end());
  auto original = keys;
  std::sort(original.begin(), original.end());
  if (stopped != original) Fail("permutation", n, kind, threads);
  sorts++;
}

/** Sorts keys and their positions in place, once for each allocation that can fail. They stay a permutation. */
template <typename Key>
void TestExhaustedMemory(size_t n, unsigned threads) {
  const Key all = static_cast<Key>(~Key{0});
  const auto words = CodecWords<Key>(true, false, all);
  const auto keys = MakeKeys<Key>(n, 6);
  NewThreads pool(threads, false);
  long faults = 0;
  for (bool enough = false; !enough; faults++) {
    std::vector<Key> sorted(keys);
    std::vector<uint32_t> values(n);
    for (size_t i = 0; i < n; i++) values[i] = static_cast<uint32_t>(i);
    SortArguments arguments{};
    arguments.keys = arguments.sorted = reinterpret_cast<char*>(sorted.data());
    arguments.n = n;
    arguments.codec = words.data();
    arguments.moved = reinterpret_cast<char*>(values.data());
    arguments.values = {arguments.moved, sizeof(uint32_t)};
    arguments.moved_bytes = sizeof(uint32_t);
    allocations_left = faults;
    enough = RadixSort<Key, uint32_t>(arguments, pool).Run();
    allocations_left = LONG_MAX;
    std::vector<bool> seen(n);
    for (size_t i = 0; i < n; i++) {
      if (values[i] >= n || seen[values[i]] || sorted[i] != keys[values[i]]) Fail("permutation", n, 6, threads);
      seen[values[i]] = true;
    }
    sorts++;
  }
  // The first partition allocates an array for counts, two for elements; others follow.
  if (faults < 6) Fail("number of allocations", n, 6, threads);
}

/** One thread, after whose first loop the program changes all keys. */
class ChangingThreads final : public Threads {
 public:
  explicit ChangingThreads(std::vector<uint32_t>* keys) : keys_(keys) {}
  unsigned count() const override { return 1; }
  bool stopped() const override { return false; }
  void For(size_t n, const std::function<void(size_t)>& work) override {
    for (size_t i = 0; i < n; i++) work(i);
    std::fill(keys_->begin(), keys_->end(), ~0u);
  }

 private:
  std::vector<uint32_t>* const keys_;
};

/** Changes keys after they were counted: the sanitizer finds elements that are written beyond the end. */
void TestChangedKeys() {
  constexpr size_t kKeys = 600001;
  auto keys = MakeKeys<uint32_t>(kKeys, 0);
  const auto words = CodecWords<uint32_t>(false, false, ~0u);
  std::vector<uint32_t> sorted(kKeys);
  SortArguments arguments{};
  arguments.keys = reinterpret_cast<const char*>(keys.data());
  arguments.n = kKeys;
  arguments.codec = words.data();
  arguments.sorted = reinterpret_cast<char*>(sorted.data());
  ChangingThreads threads(&keys);
  if (!RadixSort<uint32_t, None>(arguments, threads).Run()) Fail("memory", kKeys, 0, 1);
  sorts++;
}

template <typename Key>
void TestKeys(bool is_float) {
  const Key all = static_cast<Key>(~Key{0}), middle = static_cast<Key>(all >> 2 & ~Key{3});
  for (size_t n : {1, 2, 48, 49, 3000, 131073, 300001}) {
    for (int kind = 0; kind < 6; kind++) {
      for (unsigned threads : {1u, 3u}) {
        if (threads > 1 && n < 100000) continue;
        Test<Key>(n, kind, threads, is_float, kind % 2 != 0, all);
        if (n < 4000) Test<Key>(n, kind, threads, is_float, false, middle);
      }
    }
  }
}

}  // namespace

int main() {
  TestKeys<uint8_t>(false);
  TestKeys<uint16_t>(false);
  TestKeys<uint32_t>(false);
  TestKeys<uint32_t>(true);
  TestKeys<uint64_t>(true);
  TestChangedKeys();
  for (unsigned threads : {1u, 3u}) {
    const size_t scale = threads > 2 ? 1 : 4;  // as the pieces that need no second partition
    TestExhaustedMemory<uint32_t>(scale * 1500001, threads);
    TestExhaustedMemory<uint64_t>(scale * 500001, threads);
  }
  std::printf("%d sorts passed\n", sorts);
}
