import type { KnownDevice } from '../device/device.js';
import type { AlgorithmFactory, AlgorithmShape } from './algorithm.js';
import { parameterError, type Tuning } from './parameters.js';
import {
  type BreakEven,
  type BreakEvenOperation,
  type Crossovers,
  type DeviceTuning,
  isFor,
  type TuningRow,
  type Where,
} from './tuning-rows.js';
import { storedCrossovers, storedTuning } from './tuning-store.js';
import { TUNINGS } from './tunings/all.js';

const specificity = ({ where }: DeviceTuning): number =>
  where.device ? 3 : where.architecture ? 2 : where.family || where.type ? 1 : 0;

/** The more specific a row is to one device, the later it comes. */
const ORDERED = TUNINGS.toSorted((a, b) => specificity(a) - specificity(b));

function matches(where: Where, { capabilities, info }: KnownDevice): boolean {
  const { architecture, family, type } = capabilities;
  return (
    (where.device ?? info.name) === info.name &&
    (where.architecture ?? architecture) === architecture &&
    (where.family ?? family) === family &&
    (where.type ?? type) === type
  );
}

const shipped = (device: KnownDevice): readonly DeviceTuning[] =>
  ORDERED.filter(({ where }) => matches(where, device));

/** Origin of tuning parameters: measured on a device, or computed by a model because no measurement exists. */
export type Basis = 'measured' | 'modelled';

/** Properties of an algorithm that its parameters depend on. */
type Tunable = Pick<AlgorithmFactory, 'parameters' | 'modelled' | 'fit'> & { readonly name: string };

/** Returns all known parameters of an algorithm on a device, in increasing priority. */
function sources(
  algorithm: Tunable,
  device: KnownDevice,
  shape: AlgorithmShape,
  n: number,
): {
  shippedRows: readonly TuningRow[];
  model: Tuning;
  storedRows: readonly TuningRow[];
  basis: Basis | undefined;
} {
  const { name, modelled } = algorithm;
  const own = (row: TuningRow) => row.algorithm === name && isFor(row.which ?? {}, shape, n);
  const isPossible = ({ tuning }: TuningRow) =>
    Object.entries(tuning).every(([parameter, value]) => !parameterError(algorithm, parameter, value));
  const known = shipped(device);
  // Guesses for any device are not measurements.
  const isMeasured = known.some(
    (one) => specificity(one) > 0 && one.rows.some((row) => row.algorithm === name),
  );
  const shippedRows = known.flatMap((one) => one.rows.filter(own));
  const storedRows = storedTuning(device).rows.filter((row) => own(row) && isPossible(row));
  const isModelled = !isMeasured && modelled !== undefined;
  const model = isModelled ? modelled(device, shape, n) : {};
  const rows = shippedRows.length + storedRows.length;
  // Rows for any device of an algorithm without a model were measured on the devices that it is planned on.
  const basis = isModelled && storedRows.length === 0 ? 'modelled' : rows > 0 ? 'measured' : undefined;
  return { shippedRows, model, storedRows, basis };
}

/**
 * Returns the parameters for an algorithm on a device, reduced to the limits of the device. In increasing priority:
 * the shipped parameters, those of a model (for a GPU without measured ones), those that `clsort tune` stored for
 * the device, and those of the shape itself. Stored rows that the algorithm does not accept are ignored.
 *
 * @param n number of keys, if known: small sorts need smaller tiles
 */
export function tuningFor(
  algorithm: Tunable,
  device: KnownDevice,
  shape: AlgorithmShape,
  n: number = Number.POSITIVE_INFINITY,
): Tuning {
  const { shippedRows, model, storedRows } = sources(algorithm, device, shape, n);
  const all: Tuning[] = [
    ...shippedRows.map((row) => row.tuning),
    model,
    ...storedRows.map((row) => row.tuning),
  ];
  const tuning = Object.assign({}, ...all, shape.tuning);
  return algorithm.fit?.(device, shape, tuning) ?? tuning;
}

/** Returns the origin of the parameters of `tuningFor`; undefined for an algorithm without parameters of its own. */
export const basisFor = (
  algorithm: Tunable,
  device: KnownDevice,
  shape: AlgorithmShape,
  n: number = Number.POSITIVE_INFINITY,
): Basis | undefined => sources(algorithm, device, shape, n).basis;

/** Returns the shipped parameters of an algorithm for all devices, as candidates to try on another device. */
export const knownTunings = (algorithm: string): Tuning[] =>
  TUNINGS.flatMap(({ rows }) => rows.filter((row) => row.algorithm === algorithm)).map(
    ({ tuning }) => tuning,
  );

/** Returns the crossovers of a device, including those that `clsort tune` stored for it. */
export function crossoversFor(device: KnownDevice): Crossovers {
  const measured = [...shipped(device).map(({ crossovers }) => crossovers), storedTuning(device).crossovers];
  const host = measured.flatMap((one) => one?.host ?? []);
  return Object.assign({}, ...measured, { host });
}

/** A kind of call; calls of an operation without a break-even size of its own count as sorts. */
export interface BreakEvenCall {
  readonly operation?: BreakEvenOperation | undefined;
  readonly keyBits?: number | undefined;
}

const appliesTo = (row: BreakEven, { operation = 'sort', keyBits }: BreakEvenCall): boolean =>
  (row.operation ?? operation) === operation && (row.keyBits ?? keyBits) === keyBits;

/** Returns the number of elements in host memory from which a device is faster than the host engine, or infinity. */
export const breakEvenOf = ({ host }: Pick<Crossovers, 'host'>, call: BreakEvenCall = {}): number =>
  host.findLast((row) => appliesTo(row, call))?.keys ?? Number.POSITIVE_INFINITY;

/** Whether a device sorts keys of some width and number in host memory faster than the host engine. */
export const sortsFaster = (crossovers: Pick<Crossovers, 'host'>): boolean =>
  [8, 16, 32, 64].some((keyBits) => Number.isFinite(breakEvenOf(crossovers, { keyBits })));

/** Returns the number of keys in host memory below which the host engine sorts faster than every known device. */
export function minKeysForDevices(): number {
  const shippedOnes = TUNINGS.map(({ crossovers }) => crossovers);
  const rows = [...shippedOnes, ...storedCrossovers()].flatMap((one) => one?.host ?? []);
  const ofSorts = rows.filter(({ operation = 'sort' }) => operation === 'sort');
  return Math.min(...ofSorts.map(({ keys }) => keys));
}
