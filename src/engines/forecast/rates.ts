/** What was measured: how long workers take for each byte, unit, piece and task of a sort over many machines. */
import { UsageError } from '../../util/errors.js';

/** Of a worker on the clock, and of all its threads on processors. */
export interface Cost {
  readonly seconds: number;
  readonly cpu: number;
}

/** What units are: plain keys, or records that the host gathers when the device has ordered their keys. */
export interface RecordKind {
  readonly of: 'keys' | 'records';
  /** Bytes of one. */
  readonly unit: number;
}

/** What a worker's host does, which may be bound by one thread or by all cores. */
export interface HostRates extends RecordKind {
  readonly name: string;
  /** Of the host that it was measured on. */
  readonly cores: number;
  /** Which share of the speed that it has alone a core keeps while all of them work: where two are threads of one, some 0.6. */
  readonly full: number;
  readonly date: string;
  /** For each unit of a sample that is read, and each that splitters are chosen from. */
  readonly sample: Cost;
  readonly splitters: Cost;
  /** For each byte: from a shard to pieces; from pieces to a part, without the device; and back from the disk. */
  readonly partition: Cost;
  readonly sort: Cost;
  readonly verify: Cost;
  /** For each piece that is written, and each that is read. */
  readonly piece: Cost;
  readonly opened: Cost;
  /** For each task beside that. */
  readonly task: Cost;
}

/** What a device does. */
export interface DeviceRates {
  readonly name: string;
  readonly driver: string;
  readonly date: string;
  /** Where the figures are from, for people. */
  readonly source: string;
  /** Seconds for each unit that lies on the device: keys of up to 32 bits, and of 64; undefined of what was not measured. */
  readonly keys32?: number | undefined;
  readonly keys64?: number | undefined;
  /** Words of 64 bits with positions of 32, which records are ordered by. */
  readonly words?: number | undefined;
  /** Bytes a second of the bus, each way; undefined where the device shares the host's memory. */
  readonly bus: number | undefined;
  /** Cores that it takes while it works: none, unless it is the processor. */
  readonly cpu: number;
}

/** What an engine adds, in seconds: for each task before it begins, for each stage, and before the first and behind the last one. */
export interface RunnerRates {
  readonly name: string;
  readonly task: number;
  readonly stage: number;
  readonly job: number;
  readonly source: string;
}

/** All that a forecast rests on. */
export interface Rates {
  readonly host: HostRates;
  /** Undefined where what a device does is part of the host's figures. */
  readonly device: DeviceRates | undefined;
  readonly engine: RunnerRates;
}

/** Which figure of a device is for such units. */
export const deviceKind = ({ of, unit }: RecordKind): 'keys32' | 'keys64' | 'words' =>
  of === 'records' ? 'words' : unit <= 4 ? 'keys32' : 'keys64';

/** Bytes of each unit on the bus, both ways: of a record a word goes up, and its position comes back. */
export const busBytes = ({ of, unit }: RecordKind): number => (of === 'records' ? 8 + 4 : 2 * unit);

/** Seconds that a device takes for each unit, and the bus. */
export function deviceCost(
  device: DeviceRates | undefined,
  { of, unit }: RecordKind,
): { device: number; bus: number } {
  if (!device) return { device: 0, bus: 0 };
  const { name, bus } = device;
  const perRecord = device[deviceKind({ of, unit })];
  if (perRecord === undefined) {
    throw new UsageError(
      `${name} was not measured with ${of} of ${unit} bytes: --measure does so on its host`,
    );
  }
  return { device: perRecord, bus: bus === undefined ? 0 : busBytes({ of, unit }) / bus };
}

/** The row of a table that is for such units, or the one nearest to them. @returns also what differs, if so */
export function hostRatesFor(
  rows: readonly HostRates[],
  { of, unit }: RecordKind,
): { readonly row: HostRates; readonly note: string | undefined } {
  const distance = (row: HostRates): number => Math.abs(Math.log(row.unit / unit));
  const [row] = rows.filter((one) => one.of === of).toSorted((a, b) => distance(a) - distance(b));
  if (!row) throw new UsageError(`nothing was measured of ${of}: --measure does so here`);
  const note =
    row.unit === unit
      ? undefined
      : `rates are those of ${of} of ${row.unit} bytes, the nearest that were measured: --measure makes them for ${unit}`;
  return { row, note };
}

/** The device whose name has that text. @throws UsageError for none */
export function deviceNamed(rows: readonly DeviceRates[], text: string): DeviceRates {
  const found = rows.find(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  if (found) return found;
  const known = rows.map(({ name }) => name).join(', ');
  throw new UsageError(
    `nothing was measured of a device '${text}': known are ${known}; on a host that has it, --measure --device ${text} does so, ` +
      'or take the report of a run there (--rates)',
    { details: { device: text, known } },
  );
}
