export type { AlgorithmName, AlgorithmOption } from './algorithms/algorithm-names.js';
export type { Basis } from './algorithms/tuning.js';
export { type DeviceInfo, type DeviceType, devices } from './device/platform/platform.js';
export { type SortFileOptions, sortFile } from './io/api/files.js';
export { argsortRecords, type RecordSortOptions, sortRecords } from './io/api/records.js';
export type { FileReport } from './io/file-sort/file-job.js';
export type { ColumnNames, TableBy, TableKey } from './io/formats/tables/table-keys.js';
export type { BytesKey, NumberKey, RecordKey, RecordLayout } from './io/records/record-keys.js';
export { type SortTableOptions, sortTable } from './io/tables/sort-table.js';
export type { TableOptions } from './io/tables/table-options.js';
export type { TableColumn } from './io/tables/value-cells.js';
export type { ValueArray } from './keys/array.js';
export { DTYPES, type Dtype, type KeyArray } from './keys/dtype.js';
export type { Order } from './keys/key-codec.js';
export type { ReduceOp, ScanOp } from './primitives/possible.js';
export { close } from './sort/api/default-sorter.js';
export { Sorter } from './sort/api/sorter.js';
export type { ExplainedPlan } from './sort/api/sorter-operations.js';
export type { Keys } from './sort/calls/array-store.js';
export type { CallMessage } from './sort/calls/call-channel.js';
export type { ArrowVector, NullOrder, VectorOptions } from './sort/model/arrow-vector.js';
export { DeviceArray } from './sort/model/device-array.js';
export type {
  AdvancedOptions,
  CheckedOptions,
  HistogramBins,
  HistogramOptions,
  Into,
  LexsortColumn,
  LexsortOptions,
  OpenOptions,
  PlanOptions,
  PrimitiveOptions,
  Progress,
  ScanOptions,
  SortOptions,
  TopKOptions,
  UniqueOptions,
} from './sort/model/options.js';
export type { Plan } from './sort/model/plan.js';
export type { ReportDevice, ShareReport, SortReport, StageReport, Verified } from './sort/model/report.js';
/** @deprecated Use `ShardedArray`. */
export { ShardedArray, ShardedArray as SpreadArray } from './sort/model/sharded-array.js';
/** @deprecated Use `Shardable`. */
export type {
  Awaitable,
  Positions,
  Reduced,
  ReducedKeys,
  ReducedValues,
  Shardable,
  Shardable as Spreadable,
  TopOf,
} from './sort/operations/arguments.js';
export { closeAll } from './sort/operations/default-sorters.js';
export { gather } from './sort/operations/gather/gather.js';
export { histogram } from './sort/operations/histogram/histogram.js';
export { type Joined, type JoinKind, type JoinOptions, join } from './sort/operations/join/join.js';
export { lexsort } from './sort/operations/lexsort/lexsort.js';
export { argsortMany } from './sort/operations/many/argsort-many.js';
export { sortMany } from './sort/operations/many/sort-many.js';
export { type MergeOptions, merge } from './sort/operations/merge/merge.js';
export { type MergeManyOptions, mergeMany } from './sort/operations/merge-many/merge-many.js';
export { argpartition } from './sort/operations/nth/argpartition.js';
export { type NthOptions, nth } from './sort/operations/nth/nth.js';
export { median, type QuantileOptions, quantile } from './sort/operations/nth/quantile.js';
export type { PositionOptions } from './sort/operations/positions.js';
export { reduce } from './sort/operations/reduce/reduce.js';
export { reduceByKey } from './sort/operations/reduce-by-key/reduce-by-key.js';
export { scan } from './sort/operations/scan/scan.js';
export { type SearchSortedOptions, searchSorted } from './sort/operations/search-sorted/search-sorted.js';
export type { Offsets } from './sort/operations/segments/segment-column.js';
export {
  type SegmentedArgsortOptions,
  segmentedArgsort,
} from './sort/operations/segments/segmented-argsort.js';
export type { SegmentOffsets } from './sort/operations/segments/segmented-call.js';
export { segmentedSort } from './sort/operations/segments/segmented-sort.js';
export { segmentedSortPairs } from './sort/operations/segments/segmented-sort-pairs.js';
export {
  type TopKSegmentsOptions,
  type TopSegments,
  topKSegments,
} from './sort/operations/segments/top-k-segments.js';
export { filter } from './sort/operations/select/filter.js';
export { partition } from './sort/operations/select/partition.js';
export type { Predicate } from './sort/operations/select/predicate.js';
export type { Mask } from './sort/operations/select/selection.js';
export type { SetOptions } from './sort/operations/sets/contains.js';
export { isIn } from './sort/operations/sets/is-in.js';
export { difference, intersect, setXor, union } from './sort/operations/sets/sets.js';
export { argsort } from './sort/operations/sort/argsort.js';
export { sort } from './sort/operations/sort/sort.js';
export { sortInPlace } from './sort/operations/sort/sort-in-place.js';
export { sortPairs } from './sort/operations/sort/sort-pairs.js';
export { topK } from './sort/operations/top-k/top-k.js';
export { type Distinct, type UniqueColumns, unique } from './sort/operations/unique/unique.js';
export type { MemoryUsage } from './sort/transfer/column-memory.js';
export * from './util/errors.js';
export type { PreparationMessage } from './util/preparation-channel.js';
