#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../thread_pool.h"
#include "number_text.h"

namespace clsort::host {

/** Forms of values, with the numbers that src/io/formats/text/values.ts gives them. */
enum Form : uint8_t { kMissing, kBare, kQuoted, kEscaped, kNested };

/** State of a splitter, which JavaScript passes as 64-bit floats. */
struct SplitState {
  double at, rows, fields, line;
};

/** The arrays of a `CsvSplitter` of src/io/formats/text/csv-splitter.ts, and their lengths. */
struct RecordArrays {
  int32_t *begins, *ends;
  double* lines;
  /** One more than there are records. */
  int32_t* firsts;
  int32_t* field_ends;
  size_t records, fields;

  /** Returns the arrays for the records of the first half of a text. Their last start of fields is not that of the others. */
  RecordArrays Lower() const {
    return {begins, ends, lines, firsts, field_ends, std::max<size_t>(records / 2, 1) - 1, fields / 2};
  }
  RecordArrays Upper() const {
    const size_t r = records / 2, f = fields / 2;
    return {begins + r, ends + r, lines + r, firsts + r, field_ends + f, records - r, fields - f};
  }
  /** Copies the first n values of other arrays to index `at`. */
  void CopyValues(const RecordArrays& from, size_t n, size_t at) const {
    std::copy_n(from.field_ends, n, field_ends + at);
  }
};

/** Text of which each half is worth a thread. */
constexpr size_t kTextForTwo = size_t{1} << 18;

/**
 * Splits a text in two halves at the end of a line, on two threads. `split(text, to, state)` splits a part; each line end
 * must end a row.
 */
template <typename Arrays, typename Split>
void SplitInTwo(Environment& environment, unsigned threads, Text text, const Arrays& to, SplitState* state,
                const Split& split) {
  const auto at = static_cast<size_t>(state->at);
  const char* const half = text.begin + at + (text.size() - at) / 2;
  const auto* const found = static_cast<const char*>(std::memchr(half, '\n', static_cast<size_t>(text.end - half)));
  const Arrays lower = to.Lower(), upper = to.Upper();
  const bool is_empty = state->rows == 0 && state->fields == 0;
  if (threads < 2 || !is_empty || text.size() - at < kTextForTwo || !found) return split(text, to, state);
  const double middle = static_cast<double>(found + 1 - text.begin);
  SplitState states[] = {*state, {middle, 0, 0, 0}};
  ParallelFor(environment, threads, 2, [&](size_t i) {
    if (i == 0)
      split(Text{text.begin, found + 1}, lower, &states[0]);
    else
      split(text, upper, &states[1]);
  });
  *state = states[0];
  if (state->at != middle) return;
  const auto first = static_cast<size_t>(state->rows), values = static_cast<size_t>(state->fields);
  const auto n = static_cast<size_t>(states[1].rows), more = static_cast<size_t>(states[1].fields);
  std::copy_n(upper.begins, n, to.begins + first);
  std::copy_n(upper.ends, n, to.ends + first);
  to.CopyValues(upper, more, values);
  for (size_t i = 0; i < n; i++) {
    to.lines[first + i] = upper.lines[i] + state->line;
    to.firsts[first + i] = upper.firsts[i] + static_cast<int32_t>(values);
  }
  to.firsts[first + n] = static_cast<int32_t>(values + more);
  *state = {states[1].at, static_cast<double>(first + n), static_cast<double>(values + more),
            state->line + states[1].line};
}

/** Records as a `CsvSplitter` splits them. */
class RecordSplitter {
 public:
  /** @param comment first byte of comments; -1 for none. @param width fields of each record, at least 1 */
  RecordSplitter(Text text, Text delimiter, int comment, size_t width, const RecordArrays& to)
      : text_(text), delimiter_(delimiter), comment_(comment), width_(width), to_(to) {}

  /**
   * Splits complete records with the expected number of fields, while there is room for them. JavaScript splits the
   * record at the end of this, or reports what is wrong with it.
   */
  void Split(SplitState* state) {
    const char* at = text_.begin + static_cast<size_t>(state->at);
    size_t rows = static_cast<size_t>(state->rows), fields = static_cast<size_t>(state->fields);
    double line = state->line;
    while (at < text_.end) {
      if (comment_ >= 0 && static_cast<unsigned char>(*at) == comment_) break;
      if (IsLineEnd(*at)) {
        const char* next = NextLine(at);
        if (!next) break;
        at = next;
        line++;
        continue;
      }
      if (rows >= to_.records || to_.fields - fields < width_) break;
      uint32_t lines = 1;
      const char* end = FieldsEnd(at, to_.field_ends + fields, &lines);
      const char* next = end ? NextLine(end) : nullptr;
      if (!next) break;
      to_.begins[rows] = Offset(at);
      to_.ends[rows] = Offset(end);
      to_.lines[rows] = line;
      to_.firsts[rows] = static_cast<int32_t>(fields);
      fields += width_;
      to_.firsts[++rows] = static_cast<int32_t>(fields);
      line += lines;
      at = next;
    }
    *state = {static_cast<double>(at - text_.begin), static_cast<double>(rows), static_cast<double>(fields), line};
  }

 private:
  static bool IsLineEnd(char byte) { return byte == '\n' || byte == '\r'; }
  int32_t Offset(const char* at) const { return static_cast<int32_t>(at - text_.begin); }
  bool IsDelimiter(const char* at) const {
    const size_t size = delimiter_.size();
    return size > 0 && *at == *delimiter_.begin &&
           (size == 1 || (size <= static_cast<size_t>(text_.end - at) && std::memcmp(at, delimiter_.begin, size) == 0));
  }

  /** Returns the start of the line after a line end; null if the text may end between CR and LF. */
  const char* NextLine(const char* at) const {
    if (*at == '\n') return at + 1;
    if (at + 1 >= text_.end) return nullptr;
    return at[1] == '\n' ? at + 2 : at + 1;
  }

  /** Returns the end of a record and writes those of its fields; null if it is incomplete or unusual. */
  const char* FieldsEnd(const char* at, int32_t* ends, uint32_t* lines) const {
    for (size_t field = 0;; field++) {
      if (field == width_) return nullptr;
      if (at < text_.end && *at == '"') {
        at = QuotedEnd(at, lines);
        if (!at || !(IsLineEnd(*at) || IsDelimiter(at))) return nullptr;
      } else {
        while (at < text_.end && !IsLineEnd(*at) && !IsDelimiter(at)) at++;
        if (at >= text_.end) return nullptr;
      }
      ends[field] = Offset(at);
      if (IsLineEnd(*at)) return field + 1 == width_ ? at : nullptr;
      at += delimiter_.size();
    }
  }

  /** Returns the byte after a quoted field; null if the text ends before it. */
  const char* QuotedEnd(const char* at, uint32_t* lines) const {
    for (at++; at + 1 < text_.end; at++) {
      if (*at == '"') {
        if (at[1] != '"') return at + 1;
        at++;
      } else if (*at == '\n' || (*at == '\r' && at[1] != '\n')) {
        ++*lines;
      }
    }
    return nullptr;
  }

  const Text text_, delimiter_;
  const int comment_;
  const size_t width_;
  const RecordArrays to_;
};

/** Values of a column: ranges of a text, and their forms. */
struct TextValues {
  Text text;
  const int32_t *begins, *ends;
  const uint8_t* forms;

  /** Returns value i; an empty one if its range is outside the text. */
  Text operator[](size_t i) const {
    const int64_t begin = begins[i], end = ends[i];
    if (begin < 0 || end < begin || end > static_cast<int64_t>(text.size())) return {text.begin, text.begin};
    return {text.begin + begin, text.begin + end};
  }
};

/** Sets the form and the range of a field. @return whether the field is inside the text */
inline bool PutField(Text text, int64_t begin, int64_t end, bool only, int32_t* to_begin, int32_t* to_end,
                     uint8_t* form) {
  *to_begin = *to_end = 0;
  *form = kMissing;
  if (end <= begin) return true;
  if (begin < 0 || end > static_cast<int64_t>(text.size())) return false;
  const bool quoted = text.begin[begin] == '"';
  if (quoted && end - begin < 2) return false;
  *to_begin = static_cast<int32_t>(begin + quoted);
  *to_end = static_cast<int32_t>(end - quoted);
  const size_t size = static_cast<size_t>(*to_end - *to_begin);
  if (!quoted) {
    *form = kBare;
  } else {
    *form = std::memchr(text.begin + *to_begin, '"', size) ? kEscaped : kQuoted;
  }
  // A missing value of a single column is written as `""`, because an empty line is not a row.
  if (only && size == 0) *form = kMissing;
  return true;
}

}  // namespace clsort::host
