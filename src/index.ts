export { type DeviceInfo, type DeviceType, devices } from './device/platform.js';
export { DTYPES, type Dtype, type KeyArray } from './keys/dtype.js';
export type { Order } from './keys/key-codec.js';
export { argsort, close, sort, sortPairs } from './sort/default-sorter.js';
export type { OpenOptions, Progress, SortOptions } from './sort/options.js';
export type { Report, ReportDevice, StageReport } from './sort/report.js';
export { Sorter } from './sort/sorter.js';
export type { Verified } from './sort/verify.js';
export * from './util/errors.js';
