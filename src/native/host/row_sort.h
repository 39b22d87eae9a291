#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "columns.h"

namespace clsort::host {

/** Rows that are sorted at once: one in each lane of the processor's vectors. */
constexpr size_t kRows = 16;

/** Longest rows that a network sorts: it compares n log² n times. */
constexpr size_t kMaxRow = 64;

/** Moves the smaller code of each lane to the first row. Loops without calls: the compiler makes vectors of them. */
template <typename Code>
__attribute__((always_inline)) inline void OrderRows(Code* first, Code* second) {
  Code low[kRows], high[kRows];
  for (size_t lane = 0; lane < kRows; lane++) low[lane] = first[lane] < second[lane] ? first[lane] : second[lane];
  for (size_t lane = 0; lane < kRows; lane++) high[lane] = first[lane] < second[lane] ? second[lane] : first[lane];
  for (size_t lane = 0; lane < kRows; lane++) first[lane] = low[lane];
  for (size_t lane = 0; lane < kRows; lane++) second[lane] = high[lane];
}

/**
 * Sorts the columns of n rows of `kRows` codes, by Batcher's odd-even merge sort (1968). The same comparisons suit all
 * columns, so that the compiler makes vectors of them.
 */
template <typename Code>
__attribute__((always_inline)) inline void SortColumnsInline(Code* codes, size_t n) {
  for (size_t run = 1; run < n; run *= 2) {
    for (size_t step = run; step >= 1; step /= 2) {
      for (size_t first = step % run; first + step < n; first += 2 * step) {
        const size_t end = std::min(first + step, n - step);
        for (size_t i = first; i < end; i++) {
          const bool same_run = ((i ^ (i + step)) & ~(2 * run - 1)) == 0;
          if (same_run) OrderRows(codes + i * kRows, codes + (i + step) * kRows);
        }
      }
    }
  }
}

#if defined(__x86_64__)
/** The same for processors with wider vectors: 2 to 4 times as fast. */
template <typename Code>
__attribute__((target("avx2"))) CLSORT_NOINLINE void SortColumnsAvx2(Code* codes, size_t n) {
  SortColumnsInline(codes, n);
}
#endif

template <typename Code>
CLSORT_NOINLINE void SortColumns(Code* codes, size_t n) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return SortColumnsAvx2(codes, n);
#endif
  SortColumnsInline(codes, n);
}

/** Sorts each of `kRows` adjacent rows of n codes, at most `kMaxRow`. Codes that are equal are indistinguishable. */
template <typename Code>
void SortRows(Code* rows, size_t n) {
  Code columns[kMaxRow * kRows];
  for (size_t row = 0; row < kRows; row++) {
    for (size_t i = 0; i < n; i++) columns[i * kRows + row] = rows[row * n + i];
  }
  SortColumns(columns, n);
  for (size_t row = 0; row < kRows; row++) {
    for (size_t i = 0; i < n; i++) rows[row * n + i] = columns[i * kRows + row];
  }
}

}  // namespace clsort::host
