#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "csv_records.h"

namespace clsort::host {

/**
 * Finds the end of JSON values, as the `JsonScanner` of src/io/formats/text/json-scanner.ts. The functions return null
 * where that reports an error.
 */
class JsonScanner {
 public:
  explicit JsonScanner(const char* end) : end_(end) {}

  const char* SkipBlanks(const char* at) const {
    while (at < end_ && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) at++;
    return at;
  }
  bool Is(const char* at, char byte) const { return at < end_ && *at == byte; }

  const char* Value(const char* at, int depth = 0) const {
    if (at >= end_) return nullptr;
    switch (*at) {
      case '"': return String(at);
      case '{': return Members(at, depth, [](Text, Text) { return true; });
      case '[': return List(at, depth);
      default: return IsDigit(*at) || (*at == '-' && at + 1 < end_ && IsDigit(at[1])) ? Number(at) : Word(at);
    }
  }

  /** Returns the end of a string, after its closing quote. */
  const char* String(const char* at) const {
    for (at++; at < end_; at++) {
      if (*at == '"') return at + 1;
      if (static_cast<unsigned char>(*at) < 0x20) return nullptr;
      if (*at != '\\') continue;
      if (++at >= end_) return nullptr;
      if (*at == 'u') {
        for (int digit = 0; digit < 4; digit++) {
          if (++at >= end_ || !IsHexDigit(*at)) return nullptr;
        }
      } else if (!std::memchr("\"\\/bfnrt", *at, 8)) {
        return nullptr;
      }
    }
    return nullptr;
  }

  /** Returns the end of an object. `found(name, value)` returns whether to go on; names have quotes. */
  template <typename Found>
  const char* Members(const char* at, int depth, const Found& found) const {
    if (depth > kMaxDepth) return nullptr;
    at = SkipBlanks(at + 1);
    if (Is(at, '}')) return at + 1;
    for (;;) {
      if (!Is(at, '"')) return nullptr;
      const char* const name = at;
      const char* const name_end = String(at);
      if (!name_end) return nullptr;
      at = SkipBlanks(name_end);
      if (!Is(at, ':')) return nullptr;
      const char* const value = SkipBlanks(at + 1);
      const char* const value_end = Value(value, depth + 1);
      if (!value_end || !found(Text{name, name_end}, Text{value, value_end})) return nullptr;
      at = SkipBlanks(value_end);
      if (Is(at, '}')) return at + 1;
      if (!Is(at, ',')) return nullptr;
      at = SkipBlanks(at + 1);
    }
  }

 private:
  static constexpr int kMaxDepth = 1000;

  /** Skips at least one digit. */
  const char* Digits(const char* at) const {
    if (at >= end_ || !IsDigit(*at)) return nullptr;
    while (at < end_ && IsDigit(*at)) at++;
    return at;
  }

  const char* Number(const char* at) const {
    if (*at == '-') at++;
    at = Is(at, '0') ? at + 1 : Digits(at);
    if (at && Is(at, '.')) at = Digits(at + 1);
    if (!at || at >= end_ || (*at | 0x20) != 'e') return at;
    at++;
    if (Is(at, '-') || Is(at, '+')) at++;
    return Digits(at);
  }

  const char* Word(const char* at) const {
    for (const std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
      if (word.size() <= static_cast<size_t>(end_ - at) && word == std::string_view(at, word.size()))
        return at + word.size();
    }
    return nullptr;
  }

  const char* List(const char* at, int depth) const {
    if (depth > kMaxDepth) return nullptr;
    at = SkipBlanks(at + 1);
    if (Is(at, ']')) return at + 1;
    for (;;) {
      at = Value(at, depth + 1);
      if (!at) return nullptr;
      at = SkipBlanks(at);
      if (Is(at, ']')) return at + 1;
      if (!Is(at, ',')) return nullptr;
      at = SkipBlanks(at + 1);
    }
  }

  const char* const end_;
};

/** Known names as they are written, with quotes, and their columns. */
struct JsonNames {
  Text text;
  const int32_t *ends, *columns;
  size_t n;

  Text operator[](size_t i) const { return {text.begin + (i == 0 ? 0 : ends[i - 1]), text.begin + ends[i]}; }
  bool IsValid(size_t max_columns) const {
    int32_t before = 0;
    for (size_t i = 0; i < n; i++) {
      if (ends[i] < before || static_cast<size_t>(ends[i]) > text.size()) return false;
      if (columns[i] < 0 || static_cast<size_t>(columns[i]) >= max_columns) return false;
      before = ends[i];
    }
    return true;
  }
};

/** The arrays of a `JsonLines` of src/io/formats/text/json-lines.ts, and their lengths. */
struct JsonArrays {
  int32_t *begins, *ends;
  double* lines;
  /** One more than there are rows. */
  int32_t* firsts;
  int32_t *columns, *value_begins, *value_ends;
  size_t rows, values;

  JsonArrays Lower() const {
    return {begins,    ends, lines, firsts, columns, value_begins, value_ends, std::max<size_t>(rows / 2, 1) - 1,
            values / 2};
  }
  JsonArrays Upper() const {
    const size_t r = rows / 2, v = values / 2;
    return {begins + r,       ends + r,       lines + r, firsts + r, columns + v,
            value_begins + v, value_ends + v, rows - r,  values - v};
  }
  void CopyValues(const JsonArrays& from, size_t n, size_t at) const {
    std::copy_n(from.columns, n, columns + at);
    std::copy_n(from.value_begins, n, value_begins + at);
    std::copy_n(from.value_ends, n, value_ends + at);
  }
};

/** Splits JSON lines as `JsonLines` does. */
class JsonLineSplitter {
 public:
  /** @param objects whether lines are objects */
  JsonLineSplitter(Text text, const JsonNames& names, bool objects, const JsonArrays& to)
      : text_(text), names_(names), objects_(objects), to_(to), last_rows_(names.n + 1, -1) {}

  /**
   * Splits lines of known names while there is room for them. JavaScript splits the line at the end of these, or reports
   * what is wrong with it.
   */
  void Split(SplitState* state) {
    const char* at = text_.begin + static_cast<size_t>(state->at);
    rows_ = static_cast<size_t>(state->rows);
    values_ = static_cast<size_t>(state->fields);
    double line = state->line;
    for (; at < text_.end && rows_ < to_.rows; line++) {
      const size_t size = static_cast<size_t>(text_.end - at);
      const char* const found = static_cast<const char*>(std::memchr(at, '\n', size));
      const char* end = found ? found : text_.end;
      const char* const next = found ? found + 1 : end;
      if (end > at && end[-1] == '\r') end--;
      const JsonScanner scanner(end);
      const char* const value = scanner.SkipBlanks(at);
      if (value < end) {
        const size_t before = values_;
        if (!Line(scanner, value, end)) {
          values_ = before;
          break;
        }
        to_.begins[rows_] = Offset(at);
        to_.ends[rows_] = Offset(end);
        to_.lines[rows_] = line;
        to_.firsts[rows_] = static_cast<int32_t>(before);
        to_.firsts[++rows_] = static_cast<int32_t>(values_);
      }
      at = next;
    }
    *state = {static_cast<double>(at - text_.begin), static_cast<double>(rows_), static_cast<double>(values_), line};
  }

 private:
  int32_t Offset(const char* at) const { return static_cast<int32_t>(at - text_.begin); }

  /** Splits a line. @return whether it is complete, valid and of known names, and there is room for its values */
  bool Line(const JsonScanner& scanner, const char* at, const char* end) {
    if ((*at == '{') != objects_) return false;
    size_t position = 0;
    const char* value_end = nullptr;
    if (objects_) {
      value_end = scanner.Members(at, 0, [&](Text name, Text value) { return Put(Find(name, position++), value); });
    } else {
      value_end = scanner.Value(at);
      if (value_end && !Put(0, {at, value_end})) return false;
    }
    return value_end && scanner.SkipBlanks(value_end) == end;
  }

  /** Adds a value of a column. @return false for column -1, the second value of a line, and full arrays */
  bool Put(int32_t column, Text value) {
    if (column < 0 || values_ == to_.values) return false;
    const size_t place = static_cast<size_t>(column);
    if (place >= last_rows_.size()) last_rows_.resize(place + 1, -1);
    if (last_rows_[place] == static_cast<int64_t>(rows_)) return false;
    last_rows_[place] = static_cast<int64_t>(rows_);
    to_.columns[values_] = column;
    to_.value_begins[values_] = Offset(value.begin);
    to_.value_ends[values_++] = Offset(value.end);
    return true;
  }

  /** Returns the column of a name, or -1. The next line probably has the same names in the same order. */
  int32_t Find(Text name, size_t position) {
    if (position < order_.size() && IsName(order_[position], name)) return names_.columns[order_[position]];
    if (by_name_.empty()) {
      for (size_t i = 0; i < names_.n; i++) by_name_.emplace(View(names_[i]), i);
    }
    const auto found = by_name_.find(View(name));
    if (found == by_name_.end()) return -1;
    if (position >= order_.size()) order_.resize(position + 1);
    order_[position] = found->second;
    return names_.columns[found->second];
  }

  static std::string_view View(Text text) { return {text.begin, text.size()}; }
  bool IsName(size_t i, Text name) const { return i < names_.n && View(names_[i]) == View(name); }

  const Text text_;
  const JsonNames names_;
  const bool objects_;
  const JsonArrays to_;
  /** Last row with a value, by column. */
  std::vector<int64_t> last_rows_;
  /** Indices of the names of the line before, in order. */
  std::vector<size_t> order_;
  std::unordered_map<std::string_view, size_t> by_name_;
  size_t rows_ = 0, values_ = 0;
};

/** Sets the range and the form of a JSON value. @return whether it is inside the text */
inline bool PutJsonValue(Text text, int64_t begin, int64_t end, int32_t* to_begin, int32_t* to_end, uint8_t* form) {
  if (begin < 0 || end <= begin || end > static_cast<int64_t>(text.size())) return false;
  const char first = text.begin[begin];
  const bool quoted = first == '"';
  if (quoted && end - begin < 2) return false;
  *to_begin = static_cast<int32_t>(begin + quoted);
  *to_end = static_cast<int32_t>(end - quoted);
  if (quoted) {
    const size_t size = static_cast<size_t>(*to_end - *to_begin);
    *form = std::memchr(text.begin + *to_begin, '\\', size) ? kEscaped : kQuoted;
  } else {
    *form = first == 'n' ? kMissing : first == '{' || first == '[' ? kNested : kBare;
  }
  return true;
}

}  // namespace clsort::host
