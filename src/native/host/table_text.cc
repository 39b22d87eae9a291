#include <algorithm>
#include <atomic>
#include <vector>

#include "json_lines.h"
#include "key_bytes.h"
#include "number_output.h"
#include "snappy.h"
#include "table_arguments.h"

namespace clsort {

namespace {

using namespace host;

/** Reads consecutive arguments: ranges and forms of n values. */
TextValues ReadValues(Call& call, int i, size_t n) {
  TextValues values{};
  values.text = ReadText(call, call[i]);
  values.begins = ReadSpan<const int32_t>(call, call[i + 1], n).data;
  values.ends = ReadSpan<const int32_t>(call, call[i + 2], n).data;
  values.forms = ReadSpan<const uint8_t>(call, call[i + 3], n).data;
  return values;
}

/** Returns whether a state is within a text and its arrays. */
bool IsWithin(const SplitState& state, Text text, size_t rows, size_t fields) {
  const auto within = [](double value, size_t max) { return value >= 0 && value <= static_cast<double>(max); };
  return within(state.at, text.size()) && within(state.rows, rows) && within(state.fields, fields) && state.line >= 0;
}

/** Arguments: threads, text, delimiter, first byte of comments or 256, width, state, and the arrays of the splitter. */
CLSORT_EXPORT(hostCsvSplit, "hostCsvSplit") {
  const unsigned threads = call.Threads(0);
  const Text text = ReadText(call, call[1]), delimiter = ReadText(call, call[2]);
  const cl_uint comment = call.Uint(3);
  const size_t width = call.Size(4);
  const auto state = ReadSpan<SplitState>(call, call[5], 1);
  const auto begins = ReadSpan<int32_t>(call, call[6], 0), ends = ReadSpan<int32_t>(call, call[7], begins.n);
  const auto lines = ReadSpan<double>(call, call[8], begins.n);
  const auto firsts = ReadSpan<int32_t>(call, call[9], begins.n + 1), fields = ReadSpan<int32_t>(call, call[10], 0);
  if (!call.ok()) return;
  SplitState now = *state.data;
  if (width == 0 || !IsWithin(now, text, begins.n, fields.n)) {
    return (void)call.Fail(CL_INVALID_VALUE, "expected a state within the text and the arrays");
  }
  const RecordArrays to{begins.data, ends.data, lines.data, firsts.data, fields.data, begins.n, fields.n};
  const auto split = [&](Text part, const RecordArrays& into, SplitState* of) {
    RecordSplitter(part, delimiter, comment > UINT8_MAX ? -1 : static_cast<int>(comment), width, into).Split(of);
  };
  // A line end in quotes ends no record.
  const bool has_quotes = std::memchr(text.begin, '"', text.size()) != nullptr;
  SplitInTwo(call.environment(), has_quotes ? 1 : threads, text, to, &now, split);
  *state.data = now;
}

/**
 * Arguments: threads, text, starts and ends of records, ends of fields, first fields, column, bytes of the delimiter,
 * whether it is the only column, and the ranges and forms that are written.
 */
CLSORT_EXPORT(hostCsvColumn, "hostCsvColumn") {
  const unsigned threads = call.Threads(0);
  const Text text = ReadText(call, call[1]);
  const auto begins = ReadSpan<const int32_t>(call, call[2], 0);
  const auto field_ends = ReadSpan<const int32_t>(call, call[3], 0);
  const auto firsts = ReadSpan<const int32_t>(call, call[4], begins.n);
  const size_t column = call.Size(5), delimiter = call.Size(6);
  const bool only = call.Bool(7);
  const auto to_begins = ReadSpan<int32_t>(call, call[8], begins.n),
             to_ends = ReadSpan<int32_t>(call, call[9], begins.n);
  const auto forms = ReadSpan<uint8_t>(call, call[10], begins.n);
  if (!call.ok()) return;
  std::atomic<bool> valid{true};
  ForRows(call, threads, begins.n, [&](size_t, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
      const int64_t at = firsts.data[i];
      bool ok = at >= 0 && column < field_ends.n && static_cast<size_t>(at) < field_ends.n - column;
      if (ok) {
        const int32_t* end = field_ends.data + at + column;
        const int64_t begin = column == 0 ? begins.data[i] : end[-1] + static_cast<int64_t>(delimiter);
        ok = PutField(text, begin, *end, only, to_begins.data + i, to_ends.data + i, forms.data + i);
      }
      if (!ok) valid = false;
    }
  });
  if (!valid) call.Fail(CL_INVALID_VALUE, "expected fields within the text");
}

/**
 * Arguments: threads, text, names, their ends and columns, whether lines are objects, state, and the arrays: starts, ends
 * and lines of rows, first values, and columns, starts and ends of values.
 */
CLSORT_EXPORT(hostJsonSplit, "hostJsonSplit") {
  const unsigned threads = call.Threads(0);
  const Text text = ReadText(call, call[1]), names = ReadText(call, call[2]);
  const auto name_ends = ReadSpan<const int32_t>(call, call[3], 0);
  const auto name_columns = ReadSpan<const int32_t>(call, call[4], name_ends.n);
  const bool objects = call.Bool(5);
  const auto state = ReadSpan<SplitState>(call, call[6], 1);
  const auto begins = ReadSpan<int32_t>(call, call[7], 0), ends = ReadSpan<int32_t>(call, call[8], begins.n);
  const auto lines = ReadSpan<double>(call, call[9], begins.n);
  const auto firsts = ReadSpan<int32_t>(call, call[10], begins.n + 1);
  const auto columns = ReadSpan<int32_t>(call, call[11], 0);
  const auto value_begins = ReadSpan<int32_t>(call, call[12], columns.n),
             value_ends = ReadSpan<int32_t>(call, call[13], columns.n);
  if (!call.ok()) return;
  SplitState now = *state.data;
  const JsonNames known{names, name_ends.data, name_columns.data, name_ends.n};
  if (!IsWithin(now, text, begins.n, columns.n) || !known.IsValid(name_ends.n)) {
    return (void)call.Fail(CL_INVALID_VALUE, "expected a state within the text and the arrays, and names with columns");
  }
  const JsonArrays to{begins.data,       ends.data,       lines.data, firsts.data, columns.data,
                      value_begins.data, value_ends.data, begins.n,   columns.n};
  SplitInTwo(call.environment(), threads, text, to, &now, [&](Text part, const JsonArrays& into, SplitState* of) {
    JsonLineSplitter(part, known, objects, into).Split(of);
  });
  *state.data = now;
}

/**
 * Arguments: threads, text, first values of rows, columns, starts and ends of values, column, and the ranges and forms of
 * its values that are written, one for each row.
 */
CLSORT_EXPORT(hostJsonColumn, "hostJsonColumn") {
  const unsigned threads = call.Threads(0);
  const Text text = ReadText(call, call[1]);
  const auto columns = ReadSpan<const int32_t>(call, call[3], 0);
  const auto begins = ReadSpan<const int32_t>(call, call[4], columns.n),
             ends = ReadSpan<const int32_t>(call, call[5], columns.n);
  const int64_t column = static_cast<int64_t>(call.Size(6));
  const auto to_begins = ReadSpan<int32_t>(call, call[7], 0), to_ends = ReadSpan<int32_t>(call, call[8], to_begins.n);
  const auto forms = ReadSpan<uint8_t>(call, call[9], to_begins.n);
  const auto firsts = ReadSpan<const int32_t>(call, call[2], to_begins.n + 1);
  if (!call.ok()) return;
  std::atomic<bool> valid{true};
  ForRows(call, threads, to_begins.n, [&](size_t, size_t first, size_t last) {
    int64_t expected = 0;  // position of the column in the row before
    for (size_t i = first; i < last; i++) {
      const int64_t from = firsts.data[i], until = firsts.data[i + 1];
      to_begins.data[i] = to_ends.data[i] = 0;
      forms.data[i] = kMissing;
      if (from < 0 || until < from || until > static_cast<int64_t>(columns.n)) {
        valid = false;
        continue;
      }
      int64_t at = from + expected;
      if (at >= until || columns.data[at] != column) {
        at = std::find(columns.data + from, columns.data + until, column) - columns.data;
      }
      if (at == until) continue;
      expected = at - from;
      if (!PutJsonValue(text, begins.data[at], ends.data[at], to_begins.data + i, to_ends.data + i, forms.data + i))
        valid = false;
    }
  });
  if (!valid) call.Fail(CL_INVALID_VALUE, "expected values within the text");
}

/**
 * Arguments: threads, values, number of values, whether quoted values are texts, flags that still matter, and five words
 * for the profile. Stops before the first value that is neither missing nor a number.
 */
CLSORT_EXPORT(hostNumberProfile, "hostNumberProfile") {
  const unsigned threads = call.Threads(0);
  const size_t n = call.Size(5);
  const TextValues values = ReadValues(call, 1, n);
  const bool quotes_are_texts = call.Bool(6);
  const cl_uint flags = call.Uint(7);
  const auto to = ReadSpan<NumberProfile>(call, call[8], 1);
  if (!call.ok()) return;
  std::vector<NumberProfile> found(CeilDivide(n, kRowSlice));
  ForRows(call, threads, n, [&](size_t slice, size_t first, size_t last) {
    NumberProfile profile{0, 0, 0, 0, flags};
    for (size_t i = first; i < last; i++, profile.rows++) {
      const uint8_t form = values.forms[i];
      if (form == kMissing) continue;
      const Text text = values[i];
      if (form == kQuoted && text.size() == 0 && !quotes_are_texts) {
        profile.values++;
        profile.empty++;
        continue;
      }
      NumberText number;
      const bool readable = form == kBare || (form == kQuoted && !quotes_are_texts);
      if (!readable || !ScanNumber(text, &number) || !profile.Add(number)) break;
    }
    found[slice] = profile;
  });
  NumberProfile all{0, 0, 0, 0, flags};
  for (size_t i = 0; i < found.size(); i++) {
    all.Include(found[i]);
    if (all.rows < std::min((i + 1) * kRowSlice, n)) break;
  }
  *to.data = all;
}

/** Reads slices of the numbers of a column. @return whether all are numbers of the kind; missing ones are 0 */
template <typename Bits>
bool ReadNumbers(Call& call, unsigned threads, const TextValues& values, KeyKind kind, Bits* to, size_t n) {
  std::atomic<bool> valid{true};
  ForRows(call, threads, n, [&](size_t, size_t first, size_t last) {
    for (size_t i = first; i < last && valid; i++) {
      const Text text = values[i];
      NumberText number;
      to[i] = 0;
      if (values.forms[i] == kMissing || text.size() == 0) continue;
      const bool readable = values.forms[i] == kBare || values.forms[i] == kQuoted;
      if (!readable || !ScanNumber(text, &number) || !ReadBits(number, kind, to + i)) valid = false;
    }
  });
  return valid;
}

/**
 * Arguments: threads, values, number of values, kind and width of the numbers, and their memory. Returns whether all values
 * are such numbers, or missing; otherwise JavaScript has to read them.
 */
CLSORT_EXPORT(hostReadNumbers, "hostReadNumbers") {
  const unsigned threads = call.Threads(0);
  const size_t n = call.Size(5);
  const TextValues values = ReadValues(call, 1, n);
  const auto kind = static_cast<KeyKind>(call.Uint(6));
  const size_t width = call.Size(7);
  const auto to = ReadSpan<char>(call, call[8], n * width);
  if (!call.ok()) return;
  const auto read = [&](auto bits) {
    using Bits = decltype(bits);
    return ReadNumbers(call, threads, values, kind, reinterpret_cast<Bits*>(to.data), n);
  };
  const bool valid = width == 1   ? read(uint8_t{})
                     : width == 2 ? read(uint16_t{})
                     : width == 4 ? read(uint32_t{})
                                  : read(uint64_t{});
  call.Return(Nan::New(valid));
}

/**
 * Arguments: threads, numbers, their kind and width, and memory for their text. Writes a number a line, and returns the
 * number of bytes.
 */
CLSORT_EXPORT(hostWriteNumbers, "hostWriteNumbers") {
  const unsigned threads = call.Threads(0);
  const auto kind = static_cast<KeyKind>(call.Uint(2));
  const size_t width = call.Size(3);
  const auto numbers = ReadSpan<const char>(call, call[1], 0);
  if (!call.ok()) return;
  if ((width != 1 && width != 2 && width != 4 && width != 8) || (kind == kFloatKey && width != sizeof(double)))
    return (void)call.Fail(CL_INVALID_VALUE, "expected integers of 1, 2, 4 or 8 bytes, or doubles");
  const size_t n = numbers.n / width;
  const auto to = ReadSpan<char>(call, call[4], n * kMostNumberBytes);
  if (!call.ok()) return;
  std::vector<size_t> sizes(CeilDivide(n, kRowSlice));
  ForRows(call, threads, n, [&](size_t slice, size_t first, size_t last) {
    char *const begin = to.data + first * kMostNumberBytes, *at = begin;
    for (size_t i = first; i < last; i++) {
      at = WriteNumber(numbers.data + i * width, kind, width, at);
      *at++ = '\n';
    }
    sizes[slice] = static_cast<size_t>(at - begin);
  });
  char* end = to.data;
  for (size_t slice = 0; slice < sizes.size(); slice++) {
    std::memmove(end, to.data + slice * kRowSlice * kMostNumberBytes, sizes[slice]);
    end += sizes[slice];
  }
  call.Return(Nan::New(static_cast<double>(end - to.data)));
}

/**
 * Arguments: threads, text, number of rows, arrays of starts, ends and forms by key; kind, width and order of each key;
 * its codec; the bytes of the code of each row; and the memory of the codes, or null to compute these sizes. Returns the
 * sum of the sizes, or -1 if JavaScript has to read the values.
 */
NAN_METHOD(HostKeyBytes) {
  enum { kDescending = 1, kNullsFirst = 2, kNanLast = 4, kFacts = 3 };
  Call call(info, "hostKeyBytes");
  const unsigned threads = call.Threads(0);
  const Text text = ReadText(call, call[1]);
  const size_t n = call.Size(2);
  const auto begins = call.Elements(3), ends = call.Elements(4), forms = call.Elements(5);
  const size_t keys = begins.size();
  const auto facts = ReadSpan<const uint32_t>(call, call[6], keys * kFacts);
  const auto codecs = ReadSpan<const uint64_t>(call, call[7], keys * kCodecWords);
  const auto sizes = ReadSpan<uint32_t>(call, call[8], n);
  const bool counts = !call.Has(9);
  const auto to = counts ? Span<uint8_t>{} : ReadSpan<uint8_t>(call, call[9], 0);
  if (!call.ok()) return;
  if (ends.size() != keys || forms.size() != keys) return (void)call.Fail(CL_INVALID_VALUE, "expected as many columns");
  std::vector<KeyColumn> columns(keys);
  for (size_t k = 0; k < keys; k++) {
    KeyColumn& column = columns[k];
    const uint32_t* fact = facts.data + k * kFacts;
    column.values = {text, ReadSpan<const int32_t>(call, begins[k], n).data,
                     ReadSpan<const int32_t>(call, ends[k], n).data, ReadSpan<const uint8_t>(call, forms[k], n).data};
    column.kind = static_cast<KeyKind>(fact[0]);
    column.width = fact[1];
    column.order = {(fact[2] & kDescending) != 0, (fact[2] & kNullsFirst) != 0, (fact[2] & kNanLast) != 0};
    std::copy_n(codecs.data + k * kCodecWords, kCodecWords, column.codec);
    if (!call.ok()) return;
  }
  std::vector<size_t> starts(CeilDivide(n, kRowSlice) + 1);
  if (!counts) {
    for (size_t i = 0; i < n; i++) starts[i / kRowSlice + 1] += sizes.data[i];
    for (size_t k = 1; k < starts.size(); k++) starts[k] += starts[k - 1];
    if (starts.back() > to.n) return (void)call.Fail(CL_INVALID_VALUE, "expected memory for all codes");
  }
  std::atomic<bool> valid{true};
  ForRows(call, threads, n, [&](size_t slice, size_t first, size_t last) {
    CodeOutput out(counts ? nullptr : to.data + starts[slice], counts ? nullptr : to.data + starts[slice + 1]);
    for (size_t i = first; i < last && valid; i++) {
      const size_t before = out.size();
      for (const KeyColumn& column : columns) {
        if (!column.Put(i, &out)) valid = false;
      }
      if (out.size() - before > UINT32_MAX) valid = false;
      if (counts) sizes.data[i] = static_cast<uint32_t>(out.size() - before);
    }
    if (counts) starts[slice + 1] = out.size();
  });
  size_t total = 0;
  for (size_t size : starts) total = counts ? total + size : size;
  call.Return(Nan::New(valid ? static_cast<double>(total) : -1));
}
const Export kHostKeyBytes("hostKeyBytes", Export::Invoke<HostKeyBytes>);

/**
 * Arguments: threads, text, starts and ends of ranges, bytes that follow each range, sizes of the results, and their
 * memory.
 */
CLSORT_EXPORT(hostCopyRanges, "hostCopyRanges") {
  const unsigned threads = call.Threads(0);
  const Text text = ReadText(call, call[1]);
  const auto begins = ReadSpan<const int32_t>(call, call[2], 0),
             ends = ReadSpan<const int32_t>(call, call[3], begins.n);
  const Text suffix = ReadText(call, call[4]);
  const auto sizes = ReadSpan<uint32_t>(call, call[5], begins.n);
  const auto to = ReadSpan<char>(call, call[6], 0);
  if (!call.ok()) return;
  const TextValues ranges{text, begins.data, ends.data, nullptr};
  std::vector<size_t> starts(CeilDivide(begins.n, kRowSlice) + 1);
  ForRows(call, threads, begins.n, [&](size_t slice, size_t first, size_t last) {
    size_t all = 0;
    for (size_t i = first; i < last; i++)
      all += sizes.data[i] = static_cast<uint32_t>(ranges[i].size() + suffix.size());
    starts[slice + 1] = all;
  });
  for (size_t k = 1; k < starts.size(); k++) starts[k] += starts[k - 1];
  if (starts.back() > to.n) return (void)call.Fail(CL_INVALID_VALUE, "expected memory for all ranges");
  ForRows(call, threads, begins.n, [&](size_t slice, size_t first, size_t last) {
    char *at = to.data + starts[slice], *const end = to.data + starts[slice + 1];
    for (size_t i = first; i < last; i++) {
      const Text range = ranges[i];
      if (static_cast<size_t>(end - at) < range.size() + suffix.size()) return;
      at = std::copy(range.begin, range.end, at);
      at = std::copy(suffix.begin, suffix.end, at);
    }
  });
}

/**
 * Arguments: threads, arrays of Snappy blocks and of the memory of their first bytes, and the numbers of bytes that the blocks
 * contain. Returns whether all blocks have these numbers of bytes and are valid as far as they are read.
 */
CLSORT_EXPORT(hostSnappy, "hostSnappy") {
  const unsigned threads = call.Threads(0);
  const auto from = call.Elements(1), to = call.Elements(2);
  const auto sizes = ReadSpan<const uint32_t>(call, call[3], from.size());
  if (!call.ok()) return;
  if (from.size() != to.size()) return (void)call.Fail(CL_INVALID_VALUE, "expected memory for each block");
  std::vector<Text> blocks;
  std::vector<Span<char>> contents;
  for (size_t i = 0; i < from.size(); i++) {
    blocks.push_back(ReadText(call, from[i]));
    contents.push_back(ReadSpan<char>(call, to[i], 0));
    if (!call.ok()) return;
  }
  std::atomic<bool> valid{true};
  ParallelFor(call.environment(), threads, blocks.size(), [&](size_t i) {
    const auto [data, n] = contents[i];
    if (valid && !SnappyBlock(blocks[i]).Decompress(data, n, sizes.data[i])) valid = false;
  });
  call.Return(Nan::New(valid.load()));
}

}  // namespace

}  // namespace clsort
