/** Compares two reports cell by cell, such as before and after a driver update. */
import type { MatrixCell } from '../matrix-case.js';
import { isBad, type Outcome } from '../row.js';
import { type CellReport, type DeviceReport, type MatrixReport, nameOf } from './report.js';

const COMPARISON_SCHEMA = 'clsort.matrix-comparison/1';

export interface Change extends MatrixCell {
  readonly is: 'status' | 'slower' | 'faster' | 'gone' | 'new';
  readonly isWorse: boolean;
  /** Statuses; absent when the report lacks the cell. */
  readonly before?: Outcome;
  readonly after?: Outcome;
  /** Only for `slower` and `faster`: seconds of the same case before and after, and their ratio. */
  readonly seconds?: readonly [before: number, after: number];
  readonly ratio?: number;
  /** Reason for the new status. */
  readonly reason?: string;
}

export interface DeviceComparison {
  readonly platform: string;
  readonly name: string;
  readonly drivers: readonly [before: string, after: string];
  /** Number of cells in both reports. */
  readonly compared: number;
  readonly changes: readonly Change[];
}

export interface Comparison {
  readonly schema: typeof COMPARISON_SCHEMA;
  readonly factor: number;
  readonly devices: readonly DeviceComparison[];
  /** Names of devices that only one report has. */
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
}

/** Calls shorter than this, in seconds, are not compared: their times are mostly noise. */
const MIN_SECONDS = 1e-3;

/**
 * Compares the statuses of cells and the times of repeated calls. Devices match by platform and name; when each report
 * has a single device, these two match.
 *
 * @param factor smallest ratio of times that counts as slower
 */
export function compareReports(before: MatrixReport, after: MatrixReport, factor: number): Comparison {
  const [one, ...others] = before.devices;
  const isSingle = others.length === 0 && after.devices.length === 1;
  const olderOf = (device: DeviceReport): DeviceReport | undefined =>
    isSingle ? one : before.devices.find((old) => isSame(old, device));
  const pairs = after.devices.map((device) => ({ device, older: olderOf(device) }));
  return {
    schema: COMPARISON_SCHEMA,
    factor,
    devices: pairs.flatMap(({ device, older }) => (older ? [compareDevices(older, device, factor)] : [])),
    onlyBefore: before.devices
      .filter((old) => !pairs.some(({ older }) => older === old))
      .map(({ name }) => name),
    onlyAfter: pairs.flatMap(({ device, older }) => (older ? [] : [device.name])),
  };
}

const isSame = (a: DeviceReport, b: DeviceReport): boolean => a.platform === b.platform && a.name === b.name;

/** Returns whether any status or time became worse, or a device is missing. */
export const isWorse = ({ devices, onlyBefore }: Comparison): boolean =>
  onlyBefore.length > 0 || devices.some(({ changes }) => changes.some((change) => change.isWorse));

function compareDevices(before: DeviceReport, after: DeviceReport, factor: number): DeviceComparison {
  const old = new Map(before.cells.map((cell) => [nameOf(cell), cell]));
  const now = new Map(after.cells.map((cell) => [nameOf(cell), cell]));
  const { platform, name } = after;
  return {
    ...{ platform, name, drivers: [before.driver, after.driver] },
    compared: [...now.keys()].filter((cell) => old.has(cell)).length,
    changes: [
      ...before.cells.filter((cell) => !now.has(nameOf(cell))).map(missingChange),
      ...after.cells.flatMap((cell) => changeOf(old.get(nameOf(cell)), cell, factor)),
    ],
  };
}

const cellOf = ({ operation, algorithm, dtype }: MatrixCell): MatrixCell => ({ operation, algorithm, dtype });

const missingChange = (cell: CellReport): Change => ({
  ...cellOf(cell),
  is: 'gone',
  isWorse: false, // fewer cases were tried
  before: cell.status,
});

function changeOf(old: CellReport | undefined, cell: CellReport, factor: number): Change[] {
  const { status, bad, skipped } = cell;
  const reason = bad?.[0]?.reason ?? (status === 'skipped' ? skipped : undefined);
  const reported = { ...cellOf(cell), after: status, ...(reason !== undefined && { reason }) };
  if (!old) return [{ ...reported, is: 'new', isWorse: isBad({ outcome: status }) }];
  if (old.status !== status) {
    return [{ ...reported, is: 'status', isWorse: rank(status) > rank(old.status), before: old.status }];
  }
  const seconds = timesOf(old, cell);
  if (!seconds || Math.max(...seconds) < MIN_SECONDS) return [];
  const ratio = Number((seconds[1] / seconds[0]).toPrecision(3));
  if (ratio <= factor && ratio >= 1 / factor) return [];
  const isSlower = ratio > 1;
  return [
    { ...reported, is: isSlower ? 'slower' : 'faster', isWorse: isSlower, before: status, seconds, ratio },
  ];
}

/** Ranks statuses: ok is better than skipped, and skipped is better than any failure. */
const rank = (outcome: Outcome): number => (isBad({ outcome }) ? 2 : outcome === 'skipped' ? 1 : 0);

function timesOf({ time: a }: CellReport, { time: b }: CellReport): [number, number] | undefined {
  if (a?.again === undefined || b?.again === undefined || a.n !== b.n || a.again === 0) return undefined;
  return [a.again, b.again];
}
