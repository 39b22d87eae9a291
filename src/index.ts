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
} from './sort/api/arguments.js';
export {
  argsort,
  argsortMany,
  close,
  closeAll,
  filter,
  gather,
  histogram,
  lexsort,
  merge,
  partition,
  reduce,
  reduceByKey,
  scan,
  searchSorted,
  segmentedArgsort,
  segmentedSort,
  segmentedSortPairs,
  sort,
  sortInPlace,
  sortMany,
  sortPairs,
  topK,
  topKSegments,
  unique,
} from './sort/api/default-sorter.js';
export type {
  SegmentedArgsortOptions,
  SegmentOffsets,
  TopKSegmentsOptions,
  TopSegments,
} from './sort/api/segment-operations.js';
export type { Mask, MergeOptions, SearchSortedOptions } from './sort/api/select-operations.js';
export { Sorter } from './sort/api/sorter.js';
export type { ExplainedPlan } from './sort/api/sorter-operations.js';
export type { Keys } from './sort/calls/array-store.js';
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
export { ShardedArray, ShardedArray as SpreadArray } from './sort/multi-device/sharded-array.js';
export type { Predicate } from './sort/operations/predicate.js';
export type { Offsets } from './sort/operations/segmented-sort.js';
export type { MemoryUsage } from './sort/transfer/column-memory.js';
export * from './util/errors.js';
