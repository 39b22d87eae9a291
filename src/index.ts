export { type DeviceInfo, type DeviceType, devices } from './device/platform.js';
export type { ValueArray } from './keys/array.js';
export { DTYPES, type Dtype, type KeyArray } from './keys/dtype.js';
export type { Order } from './keys/key-codec.js';
export type { ReduceOp } from './primitives/reduce.js';
export type { Keys } from './sort/array-store.js';
export {
  argsort,
  close,
  gather,
  histogram,
  lexsort,
  reduce,
  scan,
  segmentedSort,
  sort,
  sortInPlace,
  sortPairs,
  topK,
  unique,
} from './sort/default-sorter.js';
export { DeviceArray } from './sort/device-array.js';
export type {
  HistogramBins,
  HistogramOptions,
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
} from './sort/options.js';
export type { Plan } from './sort/planner.js';
export type { ReportDevice, SortReport, StageReport } from './sort/report.js';
export type { Offsets } from './sort/segmented-sort.js';
export { type ExplainedPlan, type Positions, Sorter } from './sort/sorter.js';
export type { Verified } from './sort/verify.js';
export * from './util/errors.js';
