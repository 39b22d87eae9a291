// Faults in src/native/host/: see scripts/mutate.mjs. Each one recompiles one file of the addon.

import { tests } from './tests.mjs';

const NATIVE_SORT = 'sort/host/native-sort';
const sort = tests(NATIVE_SORT);
/** One dtype with floats and one without, which is faster than all. */
const keys = tests(NATIVE_SORT, 'f64 ascending*', 'u32 ascending*');
const windows = tests(NATIVE_SORT, 'u64: every bit window*');
const segments = tests(NATIVE_SORT, 'segments of all lengths*');
const inPlace = tests(NATIVE_SORT, 'results in the memory of the input');
const rounding = tests('sort/backend/column-verifier', 'float sums*');
const kernel = (...match) => tests('sort/host/native-kernels', ...match);

const inRadixSort = (name, find, replace, ...suites) => ({
  name: `host engine: ${name}`,
  file: 'src/native/host/radix_sort.h',
  find,
  replace,
  tests: suites,
});
const inFile = (file, name, find, replace, ...suites) => ({
  ...inRadixSort(name, find, replace, ...suites),
  file: `src/native/host/${file}`,
});

export const HOST = [
  inFile(
    'range_partition.h',
    'a partition writes over its input in the same memory',
    '(range.place == Elements::kInput && elements_.in_place())',
    'false',
    inPlace,
  ),
  inFile(
    'partition_digit.h',
    'codes outside the digit fall into a wrong bin',
    'static_cast<Key>(high > first ? high - first : 0)',
    'static_cast<Key>(high - first)',
    keys,
  ),
  inFile(
    'range_partition.h',
    'outermost bins are sorted by the rest of the digit only',
    'is_open ? varying : rest',
    'rest',
    keys,
  ),
  inRadixSort(
    'positions count from the start of the array',
    'elements_.arguments.from_segment ? first : 0, Elements::kInput',
    '0, Elements::kInput',
    segments,
  ),
  inRadixSort(
    'rows of different lengths are sorted together',
    'range.n == rows[0].n && range.first',
    'range.first',
    tests(NATIVE_SORT, 'rows of equal length*'),
  ),
  inRadixSort(
    'rows are sorted by all bits of a window',
    'if (!elements_.whole_codes() || threads_.stopped()) return false;',
    'if (threads_.stopped()) return false;',
    tests(NATIVE_SORT, 'rows of equal length*'),
  ),
  inFile(
    'row_sort.h',
    'a network compares keys of two runs',
    'const bool same_run = ((i ^ (i + step)) & ~(2 * run - 1)) == 0;',
    'const bool same_run = true;',
    tests(NATIVE_SORT, 'rows of equal length*'),
  ),
  inFile(
    'bin_lines.h',
    'a line that begins before its bin is written whole',
    'if (count == kLength && at + 1 >= begin + kLength)',
    'if (count == kLength && at + 1 >= kLength)',
    keys,
  ),
  inFile(
    'bin_lines.h',
    'the last line of a bin is not written',
    'if (next[bin] == starts[bin] || SlotOf(next[bin]) == 0) continue;',
    'if (next[bin] == starts[bin] || SlotOf(next[bin]) < 2) continue;',
    keys,
  ),
  inFile(
    'range_partition.h',
    'the order between two slices is not compared',
    'end = std::min(first + slice + 1, range.end());',
    'end = std::min(first + slice, range.end());',
    tests(NATIVE_SORT, 'slices in order that overlap*'),
  ),
  inFile(
    'range_partition.h',
    'a partition is never stopped',
    'if (threads.stopped()) return;\n      const size_t first = range.first + s * slice;\n      Scatter(',
    'const size_t first = range.first + s * slice;\n      Scatter(',
    tests(NATIVE_SORT, 'a sort that is aborted during*'),
  ),
  inFile(
    'range_partition.h',
    'the bins of a stopped partition are results',
    'if (threads.stopped()) return lists_.AddSorted(range);  // its memory has not changed',
    '',
    tests(NATIVE_SORT, 'an aborted sort rejects*'),
  ),
  inFile(
    'piece_sort.h',
    'equal neighbours count as falling',
    'if ((before & mask) <= (after & mask) &&',
    'if ((before & mask) < (after & mask) &&',
    tests(NATIVE_SORT, 'sorted and reversed arrays*', 'i16: values*'),
  ),
  inFile(
    'piece_sort.h',
    'keys that are equal in a window are reversed',
    '!(alone && before == after)',
    '!(alone && (before & mask) == (after & mask))',
    tests(NATIVE_SORT, 'sorted and reversed arrays*'),
  ),
  inFile(
    'range_partition.h',
    'the middle block of a reversal is written once',
    'const size_t half = (elements_.arguments.n + 1) / 2;',
    'const size_t half = elements_.arguments.n / 2;',
    tests(NATIVE_SORT, 'reversed arrays of odd length'),
  ),
  inRadixSort(
    'a sort is never stopped',
    'const bool stopped = threads_.stopped();',
    'const bool stopped = false;',
    tests(NATIVE_SORT, 'an aborted sort stops*'),
  ),
  inFile(
    'sort_elements.h',
    'memory that is not aligned is partitioned to',
    'if (place == kOutput && sorted && reinterpret_cast<uintptr_t>(sorted) % sizeof(Key) == 0)',
    'if (place == kOutput && sorted)',
    tests(NATIVE_SORT, 'memory without alignment'),
  ),
  inRadixSort(
    'a segment may end beyond the keys',
    'if (last <= first || last > elements_.arguments.n) continue;',
    'if (last < first) continue;',
    tests(NATIVE_SORT, 'segments beyond the keys are skipped'),
  ),
  inFile(
    'piece_sort.h',
    'insertion passes equal codes',
    'while (place > 0 && (CodeOf(records[place - 1]) & mask) > code);',
    'while (place > 0 && (CodeOf(records[place - 1]) & mask) >= code);',
    sort,
  ),
  inFile(
    'piece_sort.h',
    'an insertion that gives up counts as done',
    'if (i - place > moves) return false;',
    'if (i - place > moves) return true;',
    tests(NATIVE_SORT, 'keys that differ in a sample only'),
  ),
  inFile(
    'piece_sort.h',
    'the last digit takes bits beyond the window',
    'const uint32_t mask = d + 1 == digits ? last_mask : bin_mask;',
    'const uint32_t mask = bin_mask;',
    windows,
  ),
  inFile(
    'piece_sort.h',
    'a pass starts from the ends of the bins',
    'sum += std::exchange(next[bin], sum);',
    'next[bin] = sum += next[bin];',
    keys,
  ),
  inFile(
    'counting_sort.h',
    'counts of one thread replace those of another',
    'counts[i % kKeys] += std::exchange(own[i], 0);',
    'counts[i % kKeys] = std::exchange(own[i], 0);',
    tests(NATIVE_SORT, 'u8 ascending*'),
  ),
  inFile(
    'counting_sort.h',
    'values that are not in the sample are lost',
    'if (other) return false;\n  if (threads',
    'if (threads',
    tests(NATIVE_SORT, 'few values with rare others'),
  ),
  inFile(
    'columns.h',
    'positions count from the start of the block',
    'static_cast<Payload>(first - origin + i)',
    'static_cast<Payload>(i)',
    keys,
  ),
  inFile(
    'sort.cc',
    'long values are gathered from memory that they overwrite',
    'std::memcpy(copy.as<char>(), from, arguments.n * value_bytes);\n    from = copy.as<char>();',
    '',
    inPlace,
  ),
  inFile(
    'sort.cc',
    'long values are gathered by positions in their segment',
    'arguments.from_segment = false;\n',
    '',
    tests(NATIVE_SORT, 'segments of all lengths*'),
  ),
  inFile(
    'gather.h',
    'a position beyond the end is read',
    'if (position < from.n) {',
    'if (position <= from.n) {',
    kernel('*: gather*'),
  ),
  inFile(
    'compact.h',
    'the other keys begin one slice too late',
    'others(to.data, all + first - begin,',
    'others(to.data, all + first,',
    kernel('u32: filter*'),
  ),
  inFile(
    'compact.h',
    'the upper end of a range is excluded',
    'codes[i] <= high) != inverted',
    'codes[i] < high) != inverted',
    kernel('u8: filter*', 'u32: filter*'),
  ),
  inFile(
    'histogram.h',
    'the upper edge of the last bin is not counted',
    'code > edges[bins]',
    'code >= edges[bins]',
    kernel('u8: histograms*'),
  ),
  inFile(
    'reduce.h',
    'a run ends with its slice',
    'std::min<size_t>(begins[run + 1], n) : n;',
    'std::min<size_t>(begins[run + 1], last) : last;',
    kernel('u32: reduce*'),
  ),
  inFile(
    'reduce.h',
    'sums lose their compensation',
    'compensation_ = std::isfinite(next) ? next - value - corrected : 0;',
    'compensation_ = 0;',
    kernel('f64: reduce*'),
  ),
  inFile(
    'rounding.h',
    'a sum has no bounds',
    'std::abs(result - (sum_ + error_)) <= tolerance_ * magnitudes_',
    'true',
    rounding,
  ),
  inFile(
    'rounding.h',
    'an infinite sum is within bounds',
    'std::isnan(special_) ? std::isnan(result) : result == special_',
    'true',
    rounding,
  ),
  inFile(
    'rounding.h',
    'a sum that overflows is wrong',
    'if (!(magnitudes_ < kLargest)) return true;',
    '',
    rounding,
  ),
  inFile(
    'rounding.h',
    'a product has bounds in any range',
    'if (!(exponent_range_ < kRange)) return true;',
    '',
    rounding,
  ),
  inFile('rounding.h', 'a product is compared with its predecessor', 'product_ *= key;', '', rounding),
  inFile(
    'scan.h',
    'a slice begins with the sum of its own keys',
    'begins[slice] = value;\n    value = combine(value, own);',
    'value = combine(value, own);\n    begins[slice] = value;',
    kernel('u32: reduce*'),
  ),
  inFile(
    'search.h',
    'a search to the right stops before equal keys',
    'const bool before = right ? code <= codes[i] : code < codes[i];',
    'const bool before = code < codes[i];',
    kernel('u32: distinct*'),
  ),
  inFile(
    'search.h',
    'a mask marks the same keys when it is inverted',
    '(place < sorted.n && codec.CodeOf(sorted.keys[place]) == code) != inverted',
    'place < sorted.n && codec.CodeOf(sorted.keys[place]) == code',
    kernel('u32: distinct*'),
  ),
  inFile(
    'select.h',
    'all keys that equal the limit are selected',
    'part.equal = std::min(part.equal, rest);',
    '',
    kernel('u8: select*'),
  ),
  inFile(
    'select.h',
    'the bits that all candidates share are lost',
    'static_cast<Key>(digit << shift) | (any_ & same)',
    'static_cast<Key>(digit << shift)',
    kernel('u64: select*', 'f64: select*'),
  ),
];
