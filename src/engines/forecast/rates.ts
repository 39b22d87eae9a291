/** Measured rates: the cost per byte, record, piece and task of a distributed sort. */
import { UsageError } from '../../util/errors.js';

/** Wall-clock time of a worker, and CPU time of all its threads. */
export interface Cost {
  readonly seconds: number;
  readonly cpu: number;
}

/** Kind of records: plain keys, or records that the host gathers after the device has sorted their keys. */
export interface RecordKind {
  readonly of: 'keys' | 'records';
  /** Record size in bytes. */
  readonly unit: number;
}

/** Rates of the host of a worker, which may be limited by one thread or by all cores. */
export interface HostRates extends RecordKind {
  readonly name: string;
  /** Number of cores of the measured host. */
  readonly cores: number;
  /** Speed of a core while all work, relative to its speed alone; about 0.6 when two hardware threads share a core. */
  readonly full: number;
  readonly date: string;
  /** Per sampled record: reading it, and choosing splitters from it. */
  readonly sample: Cost;
  readonly splitters: Cost;
  /** Per byte: from a shard to pieces; from pieces to a part, without the device; and reading a part back. */
  readonly partition: Cost;
  readonly sort: Cost;
  readonly verify: Cost;
  /** Per piece: writing it, and opening it for reading. */
  readonly piece: Cost;
  readonly opened: Cost;
  /** Per task, in addition. */
  readonly task: Cost;
}

/** Rates of a device. */
export interface DeviceRates {
  readonly name: string;
  readonly driver: string;
  readonly date: string;
  /** Origin of the numbers, for display. */
  readonly source: string;
  /** Seconds per record in device memory, for keys of up to 32 bits and of 64 bits; undefined when not measured. */
  readonly keys32?: number | undefined;
  readonly keys64?: number | undefined;
  /** The same for 64-bit words with 32-bit positions, which determine the order of records. */
  readonly words?: number | undefined;
  /** Bus rate in bytes per second and direction; undefined when the device shares the host's memory. */
  readonly bus: number | undefined;
  /** Number of cores in use while it works: 0, unless the device is the CPU. */
  readonly cpu: number;
}

/**
 * Overhead of a job runner in seconds: per task before it starts, per stage, and per job before the first and after the
 * last stage.
 */
export interface RunnerRates {
  readonly name: string;
  readonly task: number;
  readonly stage: number;
  readonly job: number;
  readonly source: string;
}

/** All rates of a forecast. */
export interface Rates {
  readonly host: HostRates;
  readonly device: DeviceRates;
  readonly engine: RunnerRates;
}

/** Returns the name of the device rate for a kind of records. */
const deviceKind = ({ of, unit }: RecordKind): 'keys32' | 'keys64' | 'words' =>
  of === 'records' ? 'words' : unit <= 4 ? 'keys32' : 'keys64';

/** Returns the bytes per record on the bus in both directions; a record uploads a word and downloads its position. */
const busBytes = ({ of, unit }: RecordKind): number => (of === 'records' ? 8 + 4 : 2 * unit);

/**
 * Returns the seconds per record on the device and on the bus.
 *
 * @throws UsageError when the device was not measured for this kind of records
 */
export function deviceCost(device: DeviceRates, kind: RecordKind): { device: number; bus: number } {
  const { name, bus } = device;
  const perRecord = device[deviceKind(kind)];
  if (perRecord === undefined) {
    throw new UsageError(
      `cannot estimate sorts on ${name}: it was not measured with ${kind.of} of ${kind.unit} bytes`,
    );
  }
  return { device: perRecord, bus: bus === undefined ? 0 : busBytes(kind) / bus };
}

/**
 * Returns the row for a kind of records, or the one with the nearest record size.
 *
 * @throws UsageError when there is no row for the kind
 */
export function hostRatesFor(rows: readonly HostRates[], { of, unit }: RecordKind): HostRates {
  const distance = (row: HostRates): number => Math.abs(Math.log(row.unit / unit));
  const [row] = rows.filter((one) => one.of === of).toSorted((a, b) => distance(a) - distance(b));
  if (!row) throw new UsageError(`cannot estimate sorts of ${of}: they were not measured`);
  return row;
}

/**
 * Returns the device whose name contains a text. The words `auto`, `gpu` and `cpu` select a device of that type.
 *
 * @throws UsageError when there is none
 */
export function deviceNamed(rows: readonly DeviceRates[], text: string): DeviceRates {
  const ofType = { auto: 0, gpu: 0, cpu: 1 }[text];
  const found = rows.find(({ name, cpu }) =>
    ofType === undefined ? name.toLowerCase().includes(text.toLowerCase()) : Number(cpu > 0) === ofType,
  );
  if (found) return found;
  const known = rows.map(({ name }) => name).join(', ');
  throw new UsageError(`cannot estimate sorts on '${text}': it was not measured, unlike ${known}`, {
    details: { device: text, known },
  });
}
