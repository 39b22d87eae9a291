#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace clsort {

/**
 * Values that driver callbacks find by number instead of by pointer: a driver may call twice, after the last use, or
 * never.
 */
template <typename T>
class IdTable {
 public:
  /** @return a number for the `user_data` of a driver */
  void* Add(T value) {
    std::lock_guard<std::mutex> lock(guard_);
    // 0 means none, and after an overflow a number may be in use.
    while (++last_ == 0 || values_.count(last_)) continue;
    values_.emplace(last_, std::move(value));
    return reinterpret_cast<void*>(last_);
  }
  void Remove(void* number) {
    std::lock_guard<std::mutex> lock(guard_);
    values_.erase(reinterpret_cast<uintptr_t>(number));
  }
  /** Returns a copy of the value, or an empty value. */
  T Find(void* number) {
    std::lock_guard<std::mutex> lock(guard_);
    auto found = values_.find(reinterpret_cast<uintptr_t>(number));
    return found == values_.end() ? T() : found->second;
  }

 private:
  std::mutex guard_;
  std::unordered_map<uintptr_t, T> values_;
  uintptr_t last_ = 0;
};

}  // namespace clsort
