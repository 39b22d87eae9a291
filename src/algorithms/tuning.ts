import { architectureOf } from '../device/architecture.js';
import type { Device } from '../device/device.js';
import type { AlgorithmFactory, AlgorithmShape } from './algorithm.js';
import { refusal, type Tuning } from './parameters.js';
import { type Crossovers, type DeviceTuning, isFor, type TuningRow, type Where } from './tuning-rows.js';
import { storedCrossovers, storedTuning } from './tuning-store.js';
import { TUNINGS } from './tunings/all.js';

const specificity = ({ where }: DeviceTuning): number =>
  where.device ? 3 : where.architecture ? 2 : where.family || where.type ? 1 : 0;

/** The more a row is for one device, the later it comes. */
const ORDERED = TUNINGS.toSorted((a, b) => specificity(a) - specificity(b));

function matches(where: Where, { capabilities, info }: Device): boolean {
  const { family, type } = capabilities;
  return (
    (where.device ?? info.name) === info.name &&
    (where.architecture ?? architectureOf(info)) === architectureOf(info) &&
    (where.family ?? family) === family &&
    (where.type ?? type) === type
  );
}

const shipped = (device: Device): readonly DeviceTuning[] =>
  ORDERED.filter(({ where }) => matches(where, device));

/**
 * Parameters for an algorithm on a device: those that clsort comes with, before them those that `clsort tune` stored for
 * the device, before them what the shape itself says. Stored rows that the algorithm could not take (any more) do not
 * count.
 *
 * @param n number of keys, if known: small sorts want smaller tiles
 */
export function tuningFor(
  { name, parameters }: Pick<AlgorithmFactory, 'name' | 'parameters'>,
  device: Device,
  shape: AlgorithmShape,
  n: number = Number.POSITIVE_INFINITY,
): Tuning {
  const own = ({ algorithm, which = {} }: TuningRow) => algorithm === name && isFor(which, shape, n);
  const isPossible = ({ tuning }: TuningRow) =>
    Object.entries(tuning).every(([parameter, value]) => !refusal(parameters, parameter, value));
  const rows = shipped(device).flatMap((one) => one.rows.filter(own));
  const stored = storedTuning(device).rows.filter((row) => own(row) && isPossible(row));
  return Object.assign({}, ...[...rows, ...stored].map((row) => row.tuning), shape.tuning);
}

/** What clsort has for an algorithm on any device: sets of parameters that are worth a try on another. */
export const knownTunings = (algorithm: string): Tuning[] =>
  TUNINGS.flatMap(({ rows }) => rows.filter((row) => row.algorithm === algorithm)).map(
    ({ tuning }) => tuning,
  );

/** The crossovers of a device, with what `clsort tune` stored for it. */
export function crossoversFor(device: Device): Crossovers {
  const measured = shipped(device).map(({ crossovers }) => crossovers);
  return Object.assign({}, ...measured, storedTuning(device).crossovers);
}

/** With fewer keys, in host memory, the host engine is done before every device of which anything is known. */
export function fewestForDevices(): number {
  const shippedOnes = TUNINGS.map(({ crossovers }) => crossovers);
  return Math.min(
    ...[...shippedOnes, ...storedCrossovers()].map((one) => one?.host ?? Number.POSITIVE_INFINITY),
  );
}
