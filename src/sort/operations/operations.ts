/** The list of operations. Each is a method of every Sorter. */
import { type Gather, runGather } from './gather/gather.js';
import { type Histogram, runHistogram } from './histogram/histogram.js';
import { type Join, runJoin } from './join/join.js';
import { type Lexsort, runLexsort } from './lexsort/lexsort.js';
import { type ArgsortMany, runArgsortMany } from './many/argsort-many.js';
import { runSortMany, type SortMany } from './many/sort-many.js';
import { type Merge, runMerge } from './merge/merge.js';
import { type MergeMany, runMergeMany } from './merge-many/merge-many.js';
import { type Argpartition, runArgpartition } from './nth/argpartition.js';
import { type Nth, runNth } from './nth/nth.js';
import { type Median, type Quantile, runMedian, runQuantile } from './nth/quantile.js';
import type { Run } from './operation.js';
import { type Reduce, runReduce } from './reduce/reduce.js';
import { type ReduceByKey, runReduceByKey } from './reduce-by-key/reduce-by-key.js';
import { runScan, type Scan } from './scan/scan.js';
import { runSearchSorted, type SearchSorted } from './search-sorted/search-sorted.js';
import { runSegmentedArgsort, type SegmentedArgsort } from './segments/segmented-argsort.js';
import { runSegmentedSort, type SegmentedSort } from './segments/segmented-sort.js';
import { runSegmentedSortPairs, type SegmentedSortPairs } from './segments/segmented-sort-pairs.js';
import { runTopKSegments, type TopKSegments } from './segments/top-k-segments.js';
import { type Filter, runFilter } from './select/filter.js';
import { type Partition, runPartition } from './select/partition.js';
import { type IsIn, runIsIn } from './sets/is-in.js';
import {
  type Difference,
  type Intersect,
  runDifference,
  runIntersect,
  runSetXor,
  runUnion,
  type SetXor,
  type Union,
} from './sets/sets.js';
import { type Argsort, runArgsort } from './sort/argsort.js';
import { runSort, type Sort } from './sort/sort.js';
import { runSortInPlace, type SortInPlace } from './sort/sort-in-place.js';
import { runSortPairs, type SortPairs } from './sort/sort-pairs.js';
import { runTopK, type TopK } from './top-k/top-k.js';
import { runUnique, type Unique } from './unique/unique.js';

/** The methods of all operations. */
export interface OperationMethods
  extends Sort,
    SortInPlace,
    Argsort,
    SortPairs,
    Lexsort,
    TopK,
    Nth,
    Quantile,
    Median,
    Argpartition,
    SegmentedSort,
    SegmentedArgsort,
    SegmentedSortPairs,
    TopKSegments,
    SortMany,
    ArgsortMany,
    Unique,
    IsIn,
    Intersect,
    Union,
    Difference,
    SetXor,
    Join,
    Filter,
    Partition,
    SearchSorted,
    Merge,
    MergeMany,
    ReduceByKey,
    Reduce,
    Scan,
    Histogram,
    Gather {}

/** The implementations of all operations. */
export const OPERATIONS: { readonly [N in keyof OperationMethods]: Run<Pick<OperationMethods, N>> } = {
  sort: runSort,
  sortInPlace: runSortInPlace,
  argsort: runArgsort,
  sortPairs: runSortPairs,
  lexsort: runLexsort,
  topK: runTopK,
  nth: runNth,
  quantile: runQuantile,
  median: runMedian,
  argpartition: runArgpartition,
  segmentedSort: runSegmentedSort,
  segmentedArgsort: runSegmentedArgsort,
  segmentedSortPairs: runSegmentedSortPairs,
  topKSegments: runTopKSegments,
  sortMany: runSortMany,
  argsortMany: runArgsortMany,
  unique: runUnique,
  isIn: runIsIn,
  intersect: runIntersect,
  union: runUnion,
  difference: runDifference,
  setXor: runSetXor,
  join: runJoin,
  filter: runFilter,
  partition: runPartition,
  searchSorted: runSearchSorted,
  merge: runMerge,
  mergeMany: runMergeMany,
  reduceByKey: runReduceByKey,
  reduce: runReduce,
  scan: runScan,
  histogram: runHistogram,
  gather: runGather,
};
