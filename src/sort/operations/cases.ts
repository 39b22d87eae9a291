/** The cases of all operations, in the order of their rows. The library does not load them. */

import type { OperationCases } from './case.js';
import { gatherCases } from './gather/cases.js';
import { histogramCases } from './histogram/cases.js';
import { joinCases } from './join/cases.js';
import { lexsortCases } from './lexsort/cases.js';
import { manyCases } from './many/cases.js';
import { mergeCases } from './merge/cases.js';
import { mergeManyCases } from './merge-many/cases.js';
import { nthCases } from './nth/cases.js';
import { reduceCases } from './reduce/cases.js';
import { reduceByKeyCases } from './reduce-by-key/cases.js';
import { scanCases } from './scan/cases.js';
import { searchSortedCases } from './search-sorted/cases.js';
import { segmentCases } from './segments/cases.js';
import { selectCases } from './select/cases.js';
import { setCases } from './sets/cases.js';
import { sortCases } from './sort/cases.js';
import { topKCases } from './top-k/cases.js';
import { uniqueCases } from './unique/cases.js';

const CASES: readonly OperationCases[] = [
  sortCases,
  lexsortCases,
  topKCases,
  nthCases,
  segmentCases,
  manyCases,
  uniqueCases,
  setCases,
  joinCases,
  selectCases,
  searchSortedCases,
  mergeCases,
  mergeManyCases,
  reduceByKeyCases,
  reduceCases,
  scanCases,
  histogramCases,
  gatherCases,
];

/** Calls whose results are checked. */
export const CHECKED_OPERATIONS = CASES.flatMap(({ checked }) => checked);

/** Calls that are timed. */
export const TIMED_OPERATIONS = CASES.flatMap(({ timed }) => timed);
