import type { KnownDevice } from '../device/device.js';
import type { AlgorithmFactory, AlgorithmShape } from './algorithm.js';
import { refusal, type Tuning } from './parameters.js';
import { type Crossovers, type DeviceTuning, isFor, type TuningRow, type Where } from './tuning-rows.js';
import { storedCrossovers, storedTuning } from './tuning-store.js';
import { TUNINGS } from './tunings/all.js';

const specificity = ({ where }: DeviceTuning): number =>
  where.device ? 3 : where.architecture ? 2 : where.family || where.type ? 1 : 0;

/** The more a row is for one device, the later it comes. */
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

/** Where parameters come from: what was measured, and on what; or the model, since nobody has measured any. */
export type Basis = 'measured' | 'modelled';

/** What of an algorithm has to be known for its parameters. */
type Tunable = Pick<AlgorithmFactory, 'name' | 'parameters' | 'modelled' | 'fit'>;

/** All that is known of an algorithm's parameters on a device, what wins last. */
function sources(
  { name, parameters, modelled }: Tunable,
  device: KnownDevice,
  shape: AlgorithmShape,
  n: number,
): {
  shippedRows: readonly TuningRow[];
  model: Tuning;
  storedRows: readonly TuningRow[];
  basis: Basis | undefined;
} {
  const own = ({ algorithm, which = {} }: TuningRow) => algorithm === name && isFor(which, shape, n);
  const isPossible = ({ tuning }: TuningRow) =>
    Object.entries(tuning).every(([parameter, value]) => !refusal(parameters, parameter, value));
  const known = shipped(device);
  // Guesses for any device are no measurements.
  const isMeasured = known.some(
    (one) => specificity(one) > 0 && one.rows.some(({ algorithm }) => algorithm === name),
  );
  const shippedRows = known.flatMap((one) => one.rows.filter(own));
  const storedRows = storedTuning(device).rows.filter((row) => own(row) && isPossible(row));
  const isModelled = !isMeasured && modelled !== undefined;
  const model = isModelled ? modelled(device, shape, n) : {};
  const rows = shippedRows.length + storedRows.length;
  // What stands for any device and has no model was measured on those that it is planned on.
  const basis = isModelled && storedRows.length === 0 ? 'modelled' : rows > 0 ? 'measured' : undefined;
  return { shippedRows, model, storedRows, basis };
}

/**
 * Parameters for an algorithm on a device, as the device can hold them: those that clsort comes with or, for a GPU on
 * which none were measured, those of a model; before them those that `clsort tune` stored for the device, before them what
 * the shape itself says. Stored rows that the algorithm could not take (any more) do not count.
 *
 * @param n number of keys, if known: small sorts want smaller tiles
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

/** Where `tuningFor` has the parameters from; undefined for an algorithm that has none of its own. */
export const basisFor = (
  algorithm: Tunable,
  device: KnownDevice,
  shape: AlgorithmShape,
  n: number = Number.POSITIVE_INFINITY,
): Basis | undefined => sources(algorithm, device, shape, n).basis;

/** What clsort has for an algorithm on any device: sets of parameters that are worth a try on another. */
export const knownTunings = (algorithm: string): Tuning[] =>
  TUNINGS.flatMap(({ rows }) => rows.filter((row) => row.algorithm === algorithm)).map(
    ({ tuning }) => tuning,
  );

/** The crossovers of a device, with what `clsort tune` stored for it. */
export function crossoversFor(device: KnownDevice): Crossovers {
  const measured = shipped(device).map(({ crossovers }) => crossovers);
  return Object.assign({}, ...measured, storedTuning(device).crossovers);
}

/** With fewer keys, in host memory, the host engine is done before every device of which anything is known. */
export function minKeysForDevices(): number {
  const shippedOnes = TUNINGS.map(({ crossovers }) => crossovers);
  return Math.min(
    ...[...shippedOnes, ...storedCrossovers()].map((one) => one?.host ?? Number.POSITIVE_INFINITY),
  );
}
