#pragma once

#include "../call.h"
#include "../thread_pool.h"
#include "number_text.h"

// Arguments of the functions for tables, and their slices of rows.

namespace clsort::host {

/** Rows that a thread processes at a time. */
constexpr size_t kRowSlice = size_t{1} << 13;

/** Calls `work(slice, first, last)` for each slice of n rows on several threads. */
template <typename Work>
void ForRows(Call& call, unsigned threads, size_t n, const Work& work) {
  ParallelForRanges(call.environment(), threads, n, kRowSlice,
                    [&](size_t first, size_t count) { work(first / kRowSlice, first, first + count); });
}

/** Elements in host memory. */
template <typename Element>
struct Span {
  Element* data = nullptr;
  size_t n = 0;
};

/** Reads host memory of at least `n` aligned elements. */
template <typename Element>
Span<Element> ReadSpan(Call& call, v8::Local<v8::Value> value, size_t n) {
  const HostMemory memory = call.LastingMemory(value, n * sizeof(Element), CL_INVALID_VALUE);
  if (!call.ok()) return {};
  if (reinterpret_cast<uintptr_t>(memory.data) % alignof(Element) != 0) {
    call.Fail(CL_INVALID_VALUE, "expected memory that is aligned to its elements");
    return {};
  }
  return {static_cast<Element*>(memory.data), memory.bytes / sizeof(Element)};
}

/** Reads text of less than 2^31 bytes. */
inline Text ReadText(Call& call, v8::Local<v8::Value> value) {
  const auto span = ReadSpan<const char>(call, value, 0);
  if (span.n > INT32_MAX) call.Fail(CL_INVALID_VALUE, "expected less than 2^31 bytes of text");
  return {span.data, span.data + span.n};
}

}  // namespace clsort::host
