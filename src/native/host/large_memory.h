#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "../ceil_divide.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace clsort::host {

constexpr size_t kHugePage = size_t{1} << 21;

/**
 * Lets the system back memory with huge pages. New memory costs one interrupt a page: with pages of 4 KiB, these take
 * as long as the sort of a large array.
 */
inline void AdviseHugePages([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) {
#if defined(__linux__)
  const auto begin = CeilDivide(reinterpret_cast<uintptr_t>(data), kHugePage) * kHugePage;
  const auto end = (reinterpret_cast<uintptr_t>(data) + bytes) / kHugePage * kHugePage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

/** Uninitialised memory that starts at a cache line; large arrays use huge pages where the system has them. */
class LargeMemory {
 public:
  LargeMemory() = default;
  ~LargeMemory() { std::free(data_); }
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;

  /** @return whether there was enough memory */
  bool Allocate(size_t bytes) {
    const size_t alignment = bytes > kHugePage ? kHugePage : kLine;
    if (bytes > SIZE_MAX - alignment) return false;
    data_ = std::aligned_alloc(alignment, CeilDivide(bytes, alignment) * alignment);
    if (!data_) return bytes == 0;
    AdviseHugePages(data_, bytes);
    return true;
  }

  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  static constexpr size_t kLine = 64;
  void* data_ = nullptr;
};

}  // namespace clsort::host
