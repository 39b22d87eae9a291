/** What a new driver changes: two reports, cell by cell. */
import type { MatrixCell } from '../case.js';
import { isBad, type Outcome } from '../row.js';
import { type CellReport, type DeviceReport, type MatrixReport, nameOf } from './report.js';

const COMPARISON_SCHEMA = 'clsort.matrix-comparison/1';

export interface Change extends MatrixCell {
  readonly is: 'status' | 'slower' | 'faster' | 'gone' | 'new';
  readonly isWorse: boolean;
  /** Statuses; left out where the cell is not in that report. */
  readonly before?: Outcome;
  readonly after?: Outcome;
  /** Of `slower` and `faster`: seconds of the same case, and how many times as long the second took. */
  readonly seconds?: readonly [before: number, after: number];
  readonly ratio?: number;
  /** Why the cell is what it has become. */
  readonly reason?: string;
}

export interface DeviceComparison {
  readonly platform: string;
  readonly name: string;
  readonly drivers: readonly [before: string, after: string];
  /** Cells that are in both reports. */
  readonly compared: number;
  readonly changes: readonly Change[];
}

export interface Comparison {
  readonly schema: typeof COMPARISON_SCHEMA;
  readonly factor: number;
  readonly devices: readonly DeviceComparison[];
  /** Devices of one report that the other one lacks, by name. */
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
}

/** Calls of fewer seconds differ by chance. */
const MIN_SECONDS = 1e-3;

/**
 * Compares what came of cells, and the times of calls after the first. Devices are the same that have the same platform and
 * name; where each report has one only, these two are.
 *
 * @param factor how many times as long a call has to take to be called slower
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

/** Did anything become worse: a status, a time, or a device that is no longer there? */
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
  isWorse: false, // fewer were tried
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

/** What went well is better than what is not for the device, and that better than what fails, however it does. */
const rank = (outcome: Outcome): number => (isBad({ outcome }) ? 2 : outcome === 'skipped' ? 1 : 0);

function timesOf({ time: a }: CellReport, { time: b }: CellReport): [number, number] | undefined {
  if (a?.again === undefined || b?.again === undefined || a.n !== b.n || a.again === 0) return undefined;
  return [a.again, b.again];
}
