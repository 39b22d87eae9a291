/** The stored result of a matrix: the status of each cell of each device, and how to repeat it. */

import { deviceSpecOf, driverEnvironment } from '../../device/platform/device-spec.js';
import type { DeviceInfo } from '../../device/platform/platform.js';
import { DTYPES } from '../../keys/dtype.js';
import { CHECKED_OPERATIONS } from '../../sort/operations/cases.js';
import { VERSION } from '../../util/package.js';
import { algorithmNames, type Keys, type Level, type Order } from '../axes.js';
import type { MatrixScope } from '../case.js';
import { filterText } from '../filter.js';
import type { MatrixCell } from '../matrix-case.js';
import { isBad, type MatrixRow, OUTCOMES, type Outcome, worstOf } from '../row.js';

export const REPORT_SCHEMA = 'clsort.matrix-report/1';

/** A case that failed. */
export interface BadCase
  extends Pick<MatrixRow, 'n' | 'order' | 'keys' | 'seed' | 'outcome' | 'plan' | 'seconds'> {
  readonly reason: string;
}

/** The sizes, orders and distributions of a cell's cases. */
export interface Tried {
  readonly n: readonly number[];
  readonly order: readonly Order[];
  readonly keys: readonly Keys[];
}

export interface CellReport extends MatrixCell {
  /** The worst outcome of its cases. */
  readonly status: Outcome;
  /** Number of cases by outcome. */
  readonly counts: Readonly<Partial<Record<Outcome, number>>>;
  /** Total seconds of its calls, compilation included. */
  readonly seconds: number;
  /**
   * Times of the largest case that succeeded, in seconds: the first call, compilation included, and the shortest
   * repetition.
   */
  readonly time?: { readonly n: number; readonly first: number; readonly again?: number };
  /** Plan of that case, or of any case when it has none. */
  readonly plan?: string;
  /** Reason why cases were skipped. */
  readonly skipped?: string;
  /** The tried cases; present when filters were set. */
  readonly tried?: Tried;
  /** The first `MAX_BAD` cases that failed. */
  readonly bad?: readonly BadCase[];
}

/** A device with the parameters and the result of its run. */
export interface DeviceReport extends Pick<MatrixRow, 'platform' | 'driver'> {
  readonly name: string;
  readonly type: string;
  /** OpenCL version of the device. */
  readonly opencl: string;
  /** Version of clsort. */
  readonly clsort: string;
  readonly date: string;
  readonly seed: string;
  readonly level: Level;
  /** Filters of `--only`; absent when there was none. */
  readonly only?: readonly string[];
  /** Value of `--device` that selects it. */
  readonly spec: string;
  /** Environment variables that the driver may need to expose the device. */
  readonly environment: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly cells: readonly CellReport[];
}

export interface MatrixReport {
  readonly schema: typeof REPORT_SCHEMA;
  readonly devices: readonly DeviceReport[];
}

/** Maximum number of failed cases reported per cell: the causes of further ones are mostly the same. */
const MAX_BAD = 8;

/** Collects the rows of a device. */
export class DeviceRows {
  readonly #device: Omit<DeviceReport, 'seconds' | 'cells'>;
  readonly #isPart: boolean;
  readonly #cells = new Map<string, MatrixRow[]>();

  constructor(info: DeviceInfo, all: readonly DeviceInfo[], { level, seed, filters }: MatrixScope) {
    this.#isPart = filters.length > 0;
    this.#device = {
      ...{ platform: info.platform, name: info.name, driver: info.driver, type: info.type },
      ...{ opencl: info.version, clsort: VERSION, date: new Date().toISOString().slice(0, 10), seed, level },
      ...(filters.length > 0 && { only: filters.map(filterText) }),
      spec: deviceSpecOf(info, all),
      environment: driverEnvironment(),
    };
  }

  add(row: MatrixRow): void {
    const name = nameOf(row);
    const rows = this.#cells.get(name);
    if (rows) rows.push(row);
    else this.#cells.set(name, [row]);
  }

  report(): DeviceReport {
    const cells = [...this.#cells.values()]
      .map((rows) => cellOf(rows, this.#isPart))
      .toSorted((a, b) => placeOf(a) - placeOf(b));
    return { ...this.#device, seconds: sum(cells), cells };
  }
}

/** Returns the sort key of a cell: by operation, then algorithm, then dtype. */
function placeOf({ operation, algorithm, dtype }: MatrixCell): number {
  const algorithms = algorithmNames();
  const row =
    CHECKED_OPERATIONS.findIndex(({ name }) => name === operation) * algorithms.length +
    algorithms.indexOf(algorithm);
  return row * DTYPES.length + DTYPES.indexOf(dtype);
}

export const nameOf = ({ operation, algorithm, dtype }: MatrixCell): string =>
  `${operation} ${algorithm} ${dtype}`;

const sum = (all: readonly { readonly seconds: number }[]): number =>
  roundSeconds(all.reduce((total, { seconds }) => total + seconds, 0));

/** Rounds to three digits, the precision of a single measurement. */
const roundSeconds = (seconds: number): number => Number(seconds.toPrecision(3));

/**
 * Summarises the rows of a cell.
 *
 * @param isPart whether filters left out other cases of the cell
 */
function cellOf(rows: readonly MatrixRow[], isPart: boolean): CellReport {
  const [{ operation, algorithm, dtype }] = rows as [MatrixRow];
  const counts = OUTCOMES.flatMap((outcome) => {
    const count = rows.filter((row) => row.outcome === outcome).length;
    return count > 0 ? [[outcome, count] as const] : [];
  });
  const well = rows.filter(({ outcome }) => outcome === 'ok').toSorted((a, b) => b.n - a.n);
  const timed = well.find(({ again }) => again !== undefined) ?? well[0];
  const skipped = rows.find(({ outcome }) => outcome === 'skipped')?.reason;
  const plan = timed?.plan ?? rows.find((row) => row.plan !== undefined)?.plan;
  const bad = rows.filter(isBad).slice(0, MAX_BAD).map(badOf);
  return {
    ...{ operation, algorithm, dtype },
    status: worstOf(rows.map(({ outcome }) => outcome)),
    counts: Object.fromEntries(counts),
    seconds: sum(rows),
    ...(timed && { time: timeOf(timed) }),
    ...(plan !== undefined && { plan }),
    ...(skipped !== undefined && { skipped }),
    ...(isPart && { tried: triedOf(rows) }),
    ...(bad.length > 0 && { bad }),
  };
}

const triedOf = (rows: readonly MatrixRow[]): Tried => ({
  n: [...new Set(rows.map(({ n }) => n))],
  order: [...new Set(rows.map(({ order }) => order))],
  keys: [...new Set(rows.map(({ keys }) => keys))],
});

const timeOf = ({ n, seconds, again }: MatrixRow): NonNullable<CellReport['time']> => ({
  n,
  first: roundSeconds(seconds),
  ...(again !== undefined && { again: roundSeconds(again) }),
});

const badOf = ({ n, order, keys, seed, outcome, reason = '', plan, seconds }: MatrixRow): BadCase => ({
  ...{ n, order, keys, seed, outcome, reason, seconds },
  ...(plan !== undefined && { plan }),
});

/** Returns the number of cells per status, in the order of `OUTCOMES`. */
export function statusCounts(cells: readonly CellReport[]): (readonly [Outcome, number])[] {
  return OUTCOMES.flatMap((outcome) => {
    const count = cells.filter(({ status }) => status === outcome).length;
    return count > 0 ? [[outcome, count] as const] : [];
  });
}

/** Formats counts, such as `212 ok · 9 skipped`. */
export const countsText = (counts: readonly (readonly [string, number])[]): string =>
  counts.map(([outcome, count]) => `${count} ${outcome}`).join(' · ');

/** Formats JSON with one line per cell, so that two reports can be compared by eye. */
export function reportJson({ schema, devices }: MatrixReport): string {
  const parts = devices.map(({ cells, ...device }) => {
    const head = JSON.stringify(device, null, 2).replace(/\n\}$/, '');
    return `${head},\n  "cells": [\n${cells.map((cell) => `    ${JSON.stringify(cell)}`).join(',\n')}\n  ]\n}`;
  });
  return `{ "schema": ${JSON.stringify(schema)}, "devices": [\n${parts.join(',\n')}\n] }\n`;
}

/** A row in the table of a device: one operation with one algorithm. */
export interface GridRow {
  readonly operation: string;
  readonly algorithm: string;
  /** One cell per dtype, in the order of the dtypes. */
  readonly cells: readonly (CellReport | undefined)[];
}

/** Arranges the cells of a device as a table. */
export function gridOf({ cells }: Pick<DeviceReport, 'cells'>): {
  readonly dtypes: readonly string[];
  readonly rows: readonly GridRow[];
} {
  const dtypes = [...new Set(cells.map(({ dtype }) => dtype))];
  const rows = new Map<string, CellReport[]>();
  for (const cell of cells) {
    const name = `${cell.operation} ${cell.algorithm}`;
    const row = rows.get(name);
    if (row) row.push(cell);
    else rows.set(name, [cell]);
  }
  return {
    dtypes,
    rows: [...rows.values()].map((row) => {
      const [{ operation, algorithm }] = row as [CellReport];
      return { operation, algorithm, cells: dtypes.map((dtype) => row.find((cell) => cell.dtype === dtype)) };
    }),
  };
}
