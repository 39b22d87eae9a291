#include <algorithm>
#include <vector>

#include "table_arguments.h"

namespace clsort {

namespace {

using namespace host;

/** Byte strings of a batch: string i ends at `offsets[i + 1]`. */
struct StringBatch {
  Text bytes;
  Span<const uint32_t> offsets;
  size_t n() const { return offsets.n - 1; }
  /** Returns string i; an empty one if its range is outside the batch. */
  Text operator[](size_t i) const {
    const uint32_t begin = offsets.data[i], end = offsets.data[i + 1];
    if (begin > end || end > bytes.size()) return {bytes.begin, bytes.begin};
    return {bytes.begin + begin, bytes.begin + end};
  }
};

/** Strings of several batches, numbered one after the other. */
class StringBatches {
 public:
  /** Reads an array of the bytes of batches and one of their offsets. */
  StringBatches(Call& call, int bytes, int offsets) {
    const auto all = call.Elements(bytes), ends = call.Elements(offsets);
    if (call.ok() && all.size() != ends.size()) call.Fail(CL_INVALID_VALUE, "expected as many bytes as offsets");
    for (size_t k = 0; call.ok() && k < all.size(); k++) {
      batches_.push_back({ReadText(call, all[k]), ReadSpan<const uint32_t>(call, ends[k], 1)});
      if (call.ok()) firsts_.push_back(firsts_.back() + batches_.back().n());
    }
  }

  size_t n() const { return firsts_.back(); }

  /** Returns string i; an empty one if there is none. */
  Text operator[](size_t i) const {
    if (i >= n()) return {nullptr, nullptr};
    const size_t k = std::upper_bound(firsts_.begin(), firsts_.end(), i) - firsts_.begin() - 1;
    return batches_[k][i - firsts_[k]];
  }

 private:
  std::vector<StringBatch> batches_;
  std::vector<size_t> firsts_{0};
};

/** Strings that a thread finds before it reads them: while it finds the others, the memory of the first ones arrives. */
constexpr size_t kFoundStrings = 64;

/**
 * Arguments: threads, arrays of the bytes and offsets of batches, positions of strings, the at most 8 bytes of each
 * string that make a word, and the words.
 */
CLSORT_EXPORT(hostStringWords, "hostStringWords") {
  const unsigned threads = call.Threads(0);
  const StringBatches strings(call, 1, 2);
  const auto positions = ReadSpan<const uint32_t>(call, call[3], 0);
  const auto places = ReadSpan<const uint32_t>(call, call[4], 0);
  const auto words = ReadSpan<uint64_t>(call, call[5], positions.n);
  if (!call.ok()) return;
  if (places.n > sizeof(uint64_t)) return (void)call.Fail(CL_INVALID_VALUE, "expected at most 8 bytes");
  ForRows(call, threads, positions.n, [&](size_t, size_t first, size_t last) {
    Text found[kFoundStrings];
    for (size_t from = first; from < last; from += kFoundStrings) {
      const size_t n = std::min(kFoundStrings, last - from);
      for (size_t i = 0; i < n; i++) {
        found[i] = strings[positions.data[from + i]];
        __builtin_prefetch(found[i].begin);
      }
      for (size_t i = 0; i < n; i++) {
        uint64_t word = 0;
        for (size_t k = 0; k < places.n; k++) {
          const size_t place = places.data[k];
          word = word << 8 | (place < found[i].size() ? static_cast<unsigned char>(found[i].begin[place]) : 0);
        }
        words.data[from + i] = word;
      }
    }
  });
}

/**
 * Arguments: threads, arrays of the bytes and offsets of batches, positions of strings, first position, most positions,
 * memory, and bytes that end it. Copies strings until it has that many bytes. Returns the number of strings and writes
 * the number of bytes to the last argument, a 64-bit float.
 */
CLSORT_EXPORT(hostGatherStrings, "hostGatherStrings") {
  const unsigned threads = call.Threads(0);
  const StringBatches strings(call, 1, 2);
  const auto positions = ReadSpan<const uint32_t>(call, call[3], 0);
  const size_t from = call.Size(4), most = call.Size(5);
  const auto to = ReadSpan<char>(call, call[6], 0);
  const size_t full = call.Size(7);
  const auto used = ReadSpan<double>(call, call[8], 1);
  if (!call.ok()) return;
  if (from > positions.n) return (void)call.Fail(CL_INVALID_VALUE, "expected a first position among the positions");
  const size_t n = std::min(most, positions.n - from);
  std::vector<Text> texts(n);
  ForRows(call, threads, n, [&](size_t, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
      texts[i] = strings[positions.data[from + i]];
      __builtin_prefetch(texts[i].begin);
    }
  });
  std::vector<size_t> starts;
  size_t count = 0, size = 0;
  for (; count < n && size < full && texts[count].size() <= to.n - size; count++) {
    if (count % kRowSlice == 0) starts.push_back(size);
    size += texts[count].size();
  }
  ForRows(call, threads, count, [&](size_t slice, size_t first, size_t last) {
    char* at = to.data + starts[slice];
    for (size_t i = first; i < last; i++) at = std::copy(texts[i].begin, texts[i].end, at);
  });
  *used.data = static_cast<double>(size);
  call.Return(Nan::New(static_cast<double>(count)));
}

}  // namespace

}  // namespace clsort
