/** A matrix as it is kept: what came of each cell of each device, and how to have it once more. */

import { deviceSpecOf, driverEnvironment } from '../../device/device-spec.js';
import type { DeviceInfo } from '../../device/platform.js';
import { DTYPES } from '../../keys/dtype.js';
import { VERSION } from '../../util/package.js';
import { algorithmNames, type Keys, type Level, type Order } from '../axes.js';
import type { MatrixCell, MatrixScope } from '../case.js';
import { filterText } from '../filter.js';
import { OPERATIONS } from '../operations.js';
import { isBad, type MatrixRow, OUTCOMES, type Outcome, worstOf } from '../row.js';

export const REPORT_SCHEMA = 'clsort.matrix-report/1';

/** A case that went wrong. */
export interface BadCase {
  readonly n: number;
  readonly order: Order;
  readonly keys: Keys;
  /** Of the keys. */
  readonly seed: number;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly plan?: string;
  readonly seconds: number;
}

/** The sizes, orders and keys of a cell's cases. */
export interface Tried {
  readonly n: readonly number[];
  readonly order: readonly Order[];
  readonly keys: readonly Keys[];
}

export interface CellReport extends MatrixCell {
  /** Of its cases together: the worst. */
  readonly status: Outcome;
  /** Cases by outcome. */
  readonly counts: Readonly<Partial<Record<Outcome, number>>>;
  /** Of all its calls, compilation included. */
  readonly seconds: number;
  /** Of the largest case that went well: the first call, with what is compiled for it, and the shortest of further ones. */
  readonly time?: { readonly n: number; readonly first: number; readonly again?: number };
  /** Of that case, else of any. */
  readonly plan?: string;
  /** Why cases were skipped. */
  readonly skipped?: string;
  /** What its cases were, where they were not all of the level. */
  readonly tried?: Tried;
  /** Cases that went wrong, the first ones where they are many. */
  readonly bad?: readonly BadCase[];
}

/** A device, and how it was tried. */
export interface DeviceReport {
  readonly platform: string;
  readonly name: string;
  readonly driver: string;
  readonly type: string;
  /** Of OpenCL, as the device has it. */
  readonly opencl: string;
  /** Of clsort. */
  readonly clsort: string;
  readonly date: string;
  readonly seed: string;
  readonly level: Level;
  /** What `--only` let through; left out where that was everything. */
  readonly only?: readonly string[];
  /** What `--device` takes for it. */
  readonly spec: string;
  /** Variables without which the driver may not show it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly cells: readonly CellReport[];
}

export interface MatrixReport {
  readonly schema: typeof REPORT_SCHEMA;
  readonly devices: readonly DeviceReport[];
}

/** Cases that went wrong that are told of a cell. */
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

/** Cells stand in the order of operations, algorithms and dtypes, cases in that of their keys. */
function placeOf({ operation, algorithm, dtype }: MatrixCell): number {
  const algorithms = algorithmNames();
  const row =
    OPERATIONS.findIndex(({ name }) => name === operation) * algorithms.length +
    algorithms.indexOf(algorithm);
  return row * DTYPES.length + DTYPES.indexOf(dtype);
}

export const nameOf = ({ operation, algorithm, dtype }: MatrixCell): string =>
  `${operation} ${algorithm} ${dtype}`;

const sum = (all: readonly { readonly seconds: number }[]): number =>
  roundSeconds(all.reduce((total, { seconds }) => total + seconds, 0));

/** Three digits are more than a time of one call can tell. */
const roundSeconds = (seconds: number): number => Number(seconds.toPrecision(3));

/** @param isPart whether other cases of the cell were left out */
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

/** Cells of a status, by status, in the order in which they are told. */
export function statusCounts(cells: readonly CellReport[]): (readonly [Outcome, number])[] {
  return OUTCOMES.flatMap((outcome) => {
    const count = cells.filter(({ status }) => status === outcome).length;
    return count > 0 ? [[outcome, count] as const] : [];
  });
}

/** `212 ok · 9 skipped`. */
export const countsText = (counts: readonly (readonly [string, number])[]): string =>
  counts.map(([outcome, count]) => `${count} ${outcome}`).join(' · ');

/** JSON with a line for each cell, so that two reports can be compared by eye, too. */
export function reportJson({ schema, devices }: MatrixReport): string {
  const parts = devices.map(({ cells, ...device }) => {
    const head = JSON.stringify(device, null, 2).replace(/\n\}$/, '');
    return `${head},\n  "cells": [\n${cells.map((cell) => `    ${JSON.stringify(cell)}`).join(',\n')}\n  ]\n}`;
  });
  return `{ "schema": ${JSON.stringify(schema)}, "devices": [\n${parts.join(',\n')}\n] }\n`;
}

/** A row of the table of a device: one operation by one algorithm. */
export interface GridRow {
  readonly operation: string;
  readonly algorithm: string;
  /** One for each of the dtypes, in their order. */
  readonly cells: readonly (CellReport | undefined)[];
}

/** The cells of a device as a table. */
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
