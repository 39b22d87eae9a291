#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "number_text.h"

namespace clsort::host {

/** How lines are compared, with the numbers of `LINE_COMPARISON` in src/native-host/line-functions.ts. */
enum class Comparison : uint32_t { kText, kNumeric, kGeneral, kWhole };

/** Lines of a text, each with its terminator. */
struct TextLines {
  Text text;
  /** Start of each line, and the end of the last one. */
  const uint32_t* starts;
  size_t n;

  /** Returns line i without its terminator; an empty one if there is none. */
  Text operator[](size_t i) const {
    if (i >= n || starts[i] >= starts[i + 1] || starts[i + 1] > text.size()) return {text.begin, text.begin};
    return {text.begin + starts[i], text.begin + starts[i + 1] - 1};
  }
};

/** Whether a line starts with a number. `kUnread` is left to JavaScript. */
enum class Found { kNone, kNumber, kUnread };

inline bool StartsWithWord(const char* at, const char* end, const char* word) {
  const size_t size = std::strlen(word);
  return static_cast<size_t>(end - at) >= size && IsWord({at, at + size}, word);
}

/** Returns whether only blanks follow a number. */
inline Found EndOfWhole(const char* at, const char* end) {
  while (at < end && (IsBlank(*at) || *at == '\r')) at++;
  if (at == end) return Found::kNumber;
  return *at > ' ' && *at < 0x7f ? Found::kNone : Found::kUnread;  // JavaScript knows more blanks
}

/** Reads the number that a line starts with, as `numberAt` of src/io/lines/line-text.ts. */
inline Found ReadLineNumber(Text line, Comparison comparison, double* value) {
  const bool general = comparison != Comparison::kNumeric, whole = comparison == Comparison::kWhole;
  const char *at = line.begin, *const end = line.end;
  while (at < end && IsBlank(*at)) at++;
  const bool negative = at < end && *at == '-';
  if (negative || (general && at < end && *at == '+')) at++;
  if (general && (StartsWithWord(at, end, "inf") || StartsWithWord(at, end, "nan"))) {
    const bool nan = (*at | 0x20) == 'n';
    *value = nan ? std::nan("") : negative ? -INFINITY : INFINITY;
    at += StartsWithWord(at, end, "infinity") ? 8 : 3;
    return whole ? EndOfWhole(at, end) : Found::kNumber;
  }
  const bool has_next = at + 1 < end;
  if (at == end || !(IsDigit(*at) || (*at == '.' && has_next && IsDigit(at[1])))) return Found::kNone;
  if (general && *at == '0' && has_next && (at[1] | 0x20) == 'x') return Found::kUnread;
  const char* const stop = ReadDecimal({at, end}, general, value);
  if (!stop) return Found::kUnread;
  if (negative && *value != 0) *value = -*value;
  return whole ? EndOfWhole(stop, end) : Found::kNumber;
}

/** Returns the first `size` bytes as a big-endian number; missing ones are zeros. */
inline uint64_t FirstBytes(Text text, size_t size) {
  uint64_t bytes = 0;
  for (size_t k = 0; k < size; k++) {
    bytes = bytes << 8 | (k < text.size() ? static_cast<unsigned char>(text.begin[k]) : 0);
  }
  return bytes;
}

inline int CompareBytes(Text a, Text b) {
  const size_t common = std::min(a.size(), b.size());
  const int order = common == 0 ? 0 : std::memcmp(a.begin, b.begin, common);
  return order != 0 ? order : (a.size() > b.size()) - (a.size() < b.size());
}

/** Compares decimals of any length, as `compareNumeric` of src/io/lines/line-text.ts. */
class Decimal {
 public:
  explicit Decimal(Text line) {
    const char *at = line.begin, *const end = line.end;
    while (at < end && IsBlank(*at)) at++;
    const bool negative = at < end && *at == '-';
    if (negative) at++;
    whole_.begin = at;
    while (at < end && IsDigit(*at)) at++;
    whole_.end = at;
    while (whole_.begin < whole_.end && *whole_.begin == '0') whole_.begin++;
    if (at < end && *at == '.') at++;
    fraction_.begin = at;
    while (at < end && IsDigit(*at)) at++;
    while (at > fraction_.begin && at[-1] == '0') at--;
    fraction_.end = at;
    sign_ = whole_.size() + fraction_.size() == 0 ? 0 : negative ? -1 : 1;
  }

  int Compare(const Decimal& other) const {
    if (sign_ != other.sign_) return sign_ - other.sign_;
    if (whole_.size() != other.whole_.size()) return whole_.size() < other.whole_.size() ? -sign_ : sign_;
    const int order = CompareBytes(whole_, other.whole_);
    return sign_ * (order != 0 ? order : CompareBytes(fraction_, other.fraction_));
  }

 private:
  Text whole_, fraction_;
  int sign_;
};

/** Sorts lines with equal codes. */
class EqualCodes {
 public:
  /** @param stable whether equal keys keep their order; otherwise all bytes of their lines are compared */
  EqualCodes(const TextLines& lines, Comparison comparison, bool reverse, bool stable)
      : lines_(lines), comparison_(comparison), reverse_(reverse), stable_(stable) {}

  /** Sorts the positions of lines that have the code. */
  void Sort(uint32_t* first, uint32_t* last, double code) const {
    if (AreIdentical(first, last)) return;
    if (comparison_ == Comparison::kNumeric || std::isnan(code)) {
      std::stable_sort(first, last, [&](uint32_t a, uint32_t b) {
        const int keys = CompareKeys(a, b);
        const int order = keys != 0 || stable_ ? keys : CompareBytes(lines_[a], lines_[b]);
        return reverse_ ? order > 0 : order < 0;
      });
    } else if (comparison_ == Comparison::kText || !stable_) {
      SortByBytes(first, last);
    }
  }

  /** Returns whether the keys of lines with equal codes are equal. */
  bool HaveEqualKeys(uint32_t a, uint32_t b, double code) const {
    return (comparison_ >= Comparison::kGeneral && !std::isnan(code)) || CompareKeys(a, b) == 0;
  }

 private:
  /** Bytes of a line that are compared at once, and how many of them it has; one more stands for all that follow. */
  struct Word {
    uint64_t bytes;
    uint32_t size, position;
    bool operator<(const Word& other) const { return bytes != other.bytes ? bytes < other.bytes : size < other.size; }
    bool operator==(const Word& other) const { return bytes == other.bytes && size == other.size; }
  };
  static constexpr size_t kWordBytes = sizeof(uint64_t);

  bool AreIdentical(const uint32_t* first, const uint32_t* last) const {
    const Text line = lines_[*first];
    return std::all_of(first + 1, last, [&](uint32_t i) {
      const Text other = lines_[i];
      return other.size() == line.size() && std::equal(line.begin, line.end, other.begin);
    });
  }

  /** Compares the keys of lines with equal codes. NaN is the code of lines without a number, and of NaN. */
  int CompareKeys(uint32_t a, uint32_t b) const {
    switch (comparison_) {
      case Comparison::kText: return CompareBytes(lines_[a], lines_[b]);
      case Comparison::kNumeric: return Decimal(lines_[a]).Compare(Decimal(lines_[b]));
      default: return IsNumber(a) - IsNumber(b);
    }
  }
  int IsNumber(uint32_t i) const {
    double value;
    return ReadLineNumber(lines_[i], Comparison::kGeneral, &value) != Found::kNone;
  }

  /** Sorts lines by their bytes: by eight of them behind the common prefix, then those that are equal so far. */
  void SortByBytes(uint32_t* first, uint32_t* last) const {
    struct Group {
      uint32_t *first, *last;
      size_t skip;
    };
    std::vector<Group> groups{{first, last, 0}};
    std::vector<Word> words;
    while (!groups.empty()) {
      const Group group = groups.back();
      groups.pop_back();
      const size_t skip = group.skip + CommonPrefix(group.first, group.last, group.skip);
      words.clear();
      for (const uint32_t* i = group.first; i < group.last; i++) words.push_back(WordOf(*i, skip));
      if (reverse_) {
        std::stable_sort(words.begin(), words.end(), [](const Word& a, const Word& b) { return b < a; });
      } else {
        std::stable_sort(words.begin(), words.end());
      }
      for (size_t i = 0; i < words.size(); i++) group.first[i] = words[i].position;
      for (size_t i = 0, end; i < words.size(); i = end) {
        for (end = i + 1; end < words.size() && words[end] == words[i];) end++;
        if (end - i > 1 && words[i].size > kWordBytes)
          groups.push_back({group.first + i, group.first + end, skip + kWordBytes});
      }
    }
  }

  Text Rest(uint32_t i, size_t skip) const {
    const Text line = lines_[i];
    return {line.begin + std::min(skip, line.size()), line.end};
  }

  /** Returns how many bytes after the first `skip` ones are the same in all lines. */
  size_t CommonPrefix(const uint32_t* first, const uint32_t* last, size_t skip) const {
    const Text rest = Rest(*first, skip);
    size_t common = rest.size();
    for (const uint32_t* i = first + 1; i < last && common > 0; i++) {
      const Text other = Rest(*i, skip);
      common = std::min(common, other.size());
      common = static_cast<size_t>(std::mismatch(rest.begin, rest.begin + common, other.begin).first - rest.begin);
    }
    return common;
  }

  Word WordOf(uint32_t i, size_t skip) const {
    const Text rest = Rest(i, skip);
    const auto size = static_cast<uint32_t>(std::min(rest.size(), kWordBytes + 1));
    return {FirstBytes(rest, kWordBytes), size, i};
  }

  const TextLines lines_;
  const Comparison comparison_;
  const bool reverse_, stable_;
};

}  // namespace clsort::host
