#include <algorithm>
#include <atomic>
#include <vector>

#include "../ceil_divide.h"
#include "line_order.h"
#include "table_arguments.h"

namespace clsort {

namespace {

using namespace host;

/** Bytes that a thread searches for the ends of lines at a time. */
constexpr size_t kLineSlice = size_t{1} << 18;
/** First bytes of a line that are its code; a 64-bit float represents them exactly. */
constexpr size_t kCodeBytes = 6;

/** Reads consecutive arguments: a text, and the starts of its lines. */
TextLines ReadLines(Call& call, int i) {
  const Text text = ReadText(call, call[i]);
  const auto starts = ReadSpan<const uint32_t>(call, call[i + 1], 1);
  return {text, starts.data, call.ok() ? starts.n - 1 : 0};
}

Comparison ReadComparison(Call& call, int i) {
  const cl_uint value = call.Uint(i);
  if (value > static_cast<cl_uint>(Comparison::kWhole)) call.Fail(CL_INVALID_VALUE, "expected a comparison of lines");
  return static_cast<Comparison>(value);
}

/**
 * Arguments: threads, text, byte that ends a line, and the memory of the starts of lines or undefined. Returns the number
 * of lines.
 */
CLSORT_EXPORT(hostSplitLines, "hostSplitLines") {
  const unsigned threads = call.Threads(0);
  const Text text = ReadText(call, call[1]);
  const char terminator = static_cast<char>(call.Uint(2));
  const auto starts = call.Has(3) ? ReadSpan<uint32_t>(call, call[3], 1) : Span<uint32_t>{};
  if (!call.ok()) return;
  std::vector<size_t> before(CeilDivide(text.size(), kLineSlice) + 1);
  const auto for_slices = [&](const auto& work) {
    ParallelForRanges(call.environment(), threads, text.size(), kLineSlice, [&](size_t first, size_t count) {
      work(first / kLineSlice, Text{text.begin + first, text.begin + first + count});
    });
  };
  for_slices([&](size_t slice, Text part) {
    before[slice + 1] = static_cast<size_t>(std::count(part.begin, part.end, terminator));
  });
  for (size_t k = 1; k < before.size(); k++) before[k] += before[k - 1];
  if (starts.data) {
    if (before.back() >= starts.n) return (void)call.Fail(CL_INVALID_VALUE, "expected memory for all lines");
    starts.data[0] = 0;
    for_slices([&](size_t slice, Text part) {
      uint32_t *to = starts.data + before[slice] + 1, *const end = starts.data + before[slice + 1] + 1;
      for (const char* at = part.begin; to < end; *to++ = static_cast<uint32_t>(at - text.begin)) {
        const void* const found = std::memchr(at, terminator, static_cast<size_t>(part.end - at));
        if (!found) return;  // the text was changed meanwhile
        at = static_cast<const char*>(found) + 1;
      }
    });
  }
  call.Return(Nan::New(static_cast<double>(before.back())));
}

/**
 * Arguments: threads, text, starts of lines, comparison, the codes of lines, 64-bit floats, and a byte for each line that
 * is 1 if JavaScript has to read it. Returns the number of these, or -1 if a line has to be a number and is not one.
 */
CLSORT_EXPORT(hostLineCodes, "hostLineCodes") {
  const unsigned threads = call.Threads(0);
  const TextLines lines = ReadLines(call, 1);
  const Comparison comparison = ReadComparison(call, 3);
  const auto codes = ReadSpan<double>(call, call[4], lines.n);
  const auto unread = ReadSpan<uint8_t>(call, call[5], lines.n);
  if (!call.ok()) return;
  const double without = comparison == Comparison::kNumeric ? 0 : std::nan("");
  std::atomic<size_t> left{0};
  std::atomic<bool> all_numbers{true};
  ForRows(call, threads, lines.n, [&](size_t, size_t first, size_t last) {
    size_t skipped = 0;
    for (size_t i = first; i < last && all_numbers; i++) {
      if (comparison == Comparison::kText) {
        codes.data[i] = static_cast<double>(FirstBytes(lines[i], kCodeBytes));
        continue;
      }
      const Found found = ReadLineNumber(lines[i], comparison, codes.data + i);
      if (found == Found::kNone) {
        codes.data[i] = without;
        if (comparison == Comparison::kWhole) all_numbers = false;
      }
      unread.data[i] = found == Found::kUnread;
      skipped += found == Found::kUnread;
    }
    left += skipped;
  });
  call.Return(Nan::New(all_numbers ? static_cast<double>(left) : -1));
}

/**
 * Arguments: threads, text, starts of lines, comparison, whether it is reversed, whether equal keys keep their order,
 * whether only the first of equal keys is kept, sorted codes, and the positions of their lines, which are sorted. Returns
 * the number of positions that are kept.
 */
CLSORT_EXPORT(hostSortEqualLines, "hostSortEqualLines") {
  const unsigned threads = call.Threads(0);
  const TextLines lines = ReadLines(call, 1);
  const Comparison comparison = ReadComparison(call, 3);
  const EqualCodes equal(lines, comparison, call.Bool(4), call.Bool(5));
  const bool unique = call.Bool(6);
  const auto codes = ReadSpan<const double>(call, call[7], 0);
  const auto positions = ReadSpan<uint32_t>(call, call[8], codes.n);
  if (!call.ok()) return;
  const auto is_first = [&](size_t i) {
    return i == 0 ||
           (codes.data[i] != codes.data[i - 1] && !(std::isnan(codes.data[i]) && std::isnan(codes.data[i - 1])));
  };
  ForRows(call, threads, codes.n, [&](size_t, size_t first, size_t last) {
    while (first < last && !is_first(first)) first++;
    for (size_t end; first < last; first = end) {
      for (end = first + 1; end < codes.n && !is_first(end);) end++;
      if (end > first + 1) equal.Sort(positions.data + first, positions.data + end, codes.data[first]);
    }
  });
  size_t kept = codes.n;
  if (unique) {
    kept = 0;
    for (size_t i = 0; i < codes.n; i++) {
      const uint32_t position = positions.data[i];
      const bool repeats = !is_first(i) && equal.HaveEqualKeys(positions.data[kept - 1], position, codes.data[i]);
      if (!repeats) positions.data[kept++] = position;
    }
  }
  call.Return(Nan::New(static_cast<double>(kept)));
}

}  // namespace

}  // namespace clsort
