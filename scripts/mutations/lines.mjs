// Faults in the functions of src/native/host/ that order lines of text: see scripts/mutate.mjs.

import { tests } from './tests.mjs';

const inFile = (file, name, find, replace) => ({
  name: `lines: ${name}`,
  file: `src/native/host/${file}`,
  find,
  replace,
  tests: [tests('io/lines/lines')],
});

export const LINES = [
  // Starts of lines.
  inFile('line_order.h', 'a line includes its terminator', 'starts[i + 1] - 1}', 'starts[i + 1]}'),
  inFile(
    'line_text.cc',
    'the lines of each slice are counted from zero',
    'before[k] += before[k - 1];',
    'before[k] += 0;',
  ),
  inFile(
    'line_text.cc',
    'the last line of a slice has no start',
    'starts.data + before[slice + 1] + 1;',
    'starts.data + before[slice + 1];',
  ),

  // Codes.
  inFile('line_order.h', 'bytes behind a line are compared', '(k < text.size() ?', '(true ?'),
  inFile(
    'line_text.cc',
    'a line without a number is not zero',
    'kNumeric ? 0 : std::nan',
    'kNumeric ? 1 : std::nan',
  ),
  inFile(
    'line_text.cc',
    'a line that is not a number counts as one',
    'all_numbers = false;',
    'all_numbers = true;',
  ),
  inFile('line_text.cc', 'JavaScript does not read the lines that are left to it', 'left += skipped;', ''),
  inFile(
    'line_order.h',
    'a plus is the sign of a decimal',
    "(general && at < end && *at == '+')",
    "(at < end && *at == '+')",
  ),
  inFile('line_order.h', 'zero has a sign', 'if (negative && *value != 0)', 'if (negative)'),
  inFile('line_order.h', 'infinity has no sign', 'negative ? -INFINITY : INFINITY', 'INFINITY'),
  inFile('line_order.h', 'infinity is a word of three letters', '"infinity") ? 8 : 3', '"infinity") ? 3 : 3'),
  inFile(
    'line_order.h',
    'a hexadecimal number is zero',
    "if (general && *at == '0' && has_next && (at[1] | 0x20) == 'x') return Found::kUnread;",
    '',
  ),
  inFile(
    'line_order.h',
    'only spaces and tabs follow a number',
    'Found::kNone : Found::kUnread;',
    'Found::kNone : Found::kNone;',
  ),
  inFile(
    'number_text.h',
    'a decimal has an exponent',
    'general : std::chars_format::fixed',
    'general : std::chars_format::general',
  ),
  inFile('number_text.h', 'a number out of range is read', 'error == std::errc() ? end : nullptr;', 'end;'),

  // Order of lines with equal codes.
  inFile(
    'line_text.cc',
    'each NaN is a code of its own',
    ' && !(std::isnan(codes.data[i]) && std::isnan(codes.data[i - 1]))',
    '',
  ),
  inFile(
    'line_text.cc',
    'equal codes end with the range of a thread',
    'end < codes.n && !is_first',
    'end < last && !is_first',
  ),
  inFile(
    'line_order.h',
    'lines with equal keys are compared by their bytes',
    'keys != 0 || stable_ ?',
    'keys != 0 ?',
  ),
  inFile(
    'line_order.h',
    'equal keys change their order',
    'std::stable_sort(first, last',
    'std::sort(first, last',
  ),
  inFile('line_order.h', 'equal codes are sorted upwards', 'reverse_ ? order > 0 : order < 0', 'order < 0'),
  inFile('line_order.h', 'equal numbers are sorted by their bytes', 'kText || !stable_)', 'kText || true)'),
  inFile('line_order.h', 'NaN equals a line without a number', 'kGeneral && !std::isnan(code))', 'kGeneral)'),
  inFile('line_order.h', 'a text equals its beginning', '(a.size() > b.size()) - (a.size() < b.size())', '0'),
  inFile(
    'line_order.h',
    'words are compared without their sizes',
    'bytes < other.bytes : size < other.size;',
    'bytes < other.bytes : false;',
  ),
  inFile(
    'line_order.h',
    'eight bytes are the end of a line',
    'std::min(rest.size(), kWordBytes + 1)',
    'std::min(rest.size(), kWordBytes)',
  ),

  // Decimals of any length.
  inFile(
    'line_order.h',
    'zeros before a decimal count',
    "while (whole_.begin < whole_.end && *whole_.begin == '0') whole_.begin++;",
    '',
  ),
  inFile(
    'line_order.h',
    'zeros after a decimal count',
    "while (at > fraction_.begin && at[-1] == '0') at--;",
    '',
  ),
  inFile('line_order.h', 'a fraction is zero', 'whole_.size() + fraction_.size() == 0', 'whole_.size() == 0'),
  inFile('line_order.h', 'the longer of two negative decimals is larger', '? -sign_ : sign_;', '? -1 : 1;'),
  inFile(
    'line_order.h',
    'negative decimals are ordered as positive ones',
    'return sign_ * (order',
    'return (order',
  ),
];
