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
export type { PositionOptions } from './sort/operations/positions.js';
export * from './sort/operations/public.js';
export type { MemoryUsage } from './sort/transfer/column-memory.js';
export * from './util/errors.js';
export type { PreparationMessage } from './util/preparation-channel.js';
