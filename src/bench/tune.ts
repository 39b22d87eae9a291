/**
 * Searches parameters with which an algorithm is faster on a device. The search starts with parameter sets that are the
 * best on other devices, since the parameters of a tile depend on each other. Then it varies one parameter at a time
 * (coordinate descent) while that gains time and time is left. Incorrect sorts are never timed, and a gain must exceed
 * the noise.
 */
import type { SearchSizes } from '../algorithms/algorithm.js';
import type { Tuning, Value } from '../algorithms/parameters.js';
import { ALGORITHMS } from '../algorithms/registry.js';
import type { Which } from '../algorithms/tuning-rows.js';
import type { Device } from '../device/device.js';
import { isPrimitive, PRIMITIVE_PARAMETERS } from '../sort/backend/primitive-tuning.js';
import { isSlower, type Timing } from './statistics.js';

/** The widths that a sort is compiled for. */
export interface TuneShape {
  readonly keyBits: 8 | 16 | 32 | 64;
  readonly valueBytes: 0 | 4 | 8;
}

/** One search: an algorithm or a primitive, its shape, and the numbers of keys to which the result applies. */
export interface TuneCase {
  readonly algorithm: string;
  readonly which: Which & TuneShape;
  /** Number of keys in the measured sorts. */
  readonly n: number;
}

type Axes = Readonly<Record<string, readonly Value[]>>;

/** Algorithms with tunable parameters, by name. */
export const TUNABLE: Readonly<Record<string, SearchSizes>> = Object.fromEntries(
  ALGORITHMS.flatMap(({ name, search }) => (search ? [[name, search]] : [])),
);

/**
 * Returns the tunable algorithms that a device uses for common sizes: those for the largest sorts first, and among
 * these the ones for keys of any width.
 */
export function searchedAlgorithms({ capabilities }: Pick<Device, 'capabilities'>): string[] {
  const kind = capabilities.type === 'cpu' ? 'cpu' : 'gpu';
  const maxKeys = ([, { sizes }]: [string, SearchSizes]): number => Math.max(...sizes.map(({ n }) => n));
  const forAny = ([, { keyBits }]: [string, SearchSizes]): number => Number(keyBits === undefined);
  return Object.entries(TUNABLE)
    .filter(([, { on }]) => on.includes(kind))
    .toSorted((a, b) => maxKeys(b) - maxKeys(a) || forAny(b) - forAny(a))
    .map(([name]) => name);
}

/** Returns the tunable parameters of a case: some apply only to sorts with values, some only to sorts without. */
export function axesOf({ algorithm, which }: TuneCase): Axes {
  const form = which.valueBytes > 0 ? 'values' : 'keys';
  const factory = ALGORITHMS.find(({ name }) => name === algorithm);
  const parameters = isPrimitive(algorithm) ? PRIMITIVE_PARAMETERS : (factory?.parameters ?? {});
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, { axis, onlyWith = form }]) =>
      axis && onlyWith === form ? [[name, axis]] : [],
    ),
  );
}

/** Returns the parameters that a case varies; the others are tuned elsewhere and not stored with it. */
export function variedParameters(one: TuneCase, tuning: Tuning): Tuning {
  const axes = axesOf(one);
  return Object.fromEntries(Object.entries(tuning).filter(([name]) => Object.hasOwn(axes, name)));
}

/** The most common shapes, the most frequent first. */
export const SHAPES: readonly TuneShape[] = [
  { keyBits: 32, valueBytes: 0 },
  { keyBits: 32, valueBytes: 4 },
  { keyBits: 64, valueBytes: 0 },
  { keyBits: 64, valueBytes: 4 },
  { keyBits: 32, valueBytes: 8 },
];

/** Returns all searches for the given algorithms and shapes, the most important first. */
export function tuneCases(algorithms: readonly string[], shapes: readonly TuneShape[] = SHAPES): TuneCase[] {
  const sizes = (algorithm: string) => TUNABLE[algorithm]?.sizes ?? [];
  const ranks = Array.from({ length: Math.max(0, ...algorithms.map((name) => sizes(name).length)) });
  return shapes.flatMap((shape) =>
    ranks.flatMap((_, rank) =>
      algorithms.flatMap((algorithm): TuneCase[] => {
        const size = sizes(algorithm)[rank];
        const { keyBits = [shape.keyBits] } = TUNABLE[algorithm] ?? {};
        if (!size || !keyBits.includes(shape.keyBits)) return [];
        const { n, over, max: maxKeys } = size;
        return [
          {
            algorithm,
            which: {
              ...shape,
              ...(over !== undefined && { over }),
              ...(maxKeys !== undefined && { n: maxKeys }),
            },
            n,
          },
        ];
      }),
    ),
  );
}

/** Result of one trial. */
export type Trial =
  | { readonly result: 'ok'; readonly time: Timing }
  | { readonly result: 'wrong' | 'unsupported'; readonly reason: string };

export interface SearchResult {
  readonly tuning: Tuning;
  readonly before: Timing;
  readonly after: Timing;
  /** Number of trials, and the parameter sets that sorted incorrectly. */
  readonly tried: number;
  readonly wrong: readonly Tuning[];
}

/** Smallest gain that counts beside the noise, as a share of the time: smaller ones differ between runs. */
const MIN_GAIN = 0.02;

/** Returns the share of the time that is saved. */
export const gain = ({ before, after }: Pick<SearchResult, 'before' | 'after'>): number =>
  1 - after.median / before.median;

/** Orders values by their distance from the current one, since the best value is usually near. */
function byDistance(values: readonly Value[], present: Value): Value[] {
  const place = (value: Value): number => {
    const exact = values.indexOf(value);
    return exact >= 0 ? exact : values.filter((other) => other < value).length - 0.5;
  };
  const distance = (value: Value): number => Math.abs(place(value) - place(present));
  return values.filter((value) => value !== present).toSorted((a, b) => distance(a) - distance(b));
}

export interface SearchOptions {
  /** Verifies parameters, and times them when they sort correctly. */
  readonly attempt: (tuning: Tuning) => Promise<Trial>;
  /** Returns false when the time is up; the search then ends with the best result so far. */
  readonly more: () => boolean;
  readonly onTried?: (tuning: Tuning, tried: Trial) => void;
  /** Parameter sets to try first; parameters missing in a set are those of `start`. */
  readonly known?: readonly Tuning[];
}

/**
 * Searches from `start`, varying only parameters that `start` contains and that have an axis.
 *
 * @returns undefined when `start` itself does not work; `onTried` receives the reason
 */
export async function search(
  axes: Axes,
  start: Tuning,
  { attempt, more, onTried, known = [] }: SearchOptions,
): Promise<SearchResult | undefined> {
  const seen = new Set<string>();
  const wrong: Tuning[] = [];
  const timeOf = async (tuning: Tuning): Promise<Timing | undefined> => {
    seen.add(JSON.stringify(tuning));
    const tried = await attempt(tuning);
    onTried?.(tuning, tried);
    if (tried.result === 'wrong') wrong.push(tuning);
    return tried.result === 'ok' ? tried.time : undefined;
  };
  const first = await timeOf(start);
  if (!first) return undefined;
  let [tuning, after] = [start, first];
  const takeIfBetter = async (next: Tuning): Promise<boolean> => {
    if (seen.has(JSON.stringify(next))) return false;
    const time = await timeOf(next);
    if (!time || !isSlower(time, after, MIN_GAIN)) return false;
    [tuning, after] = [next, time];
    return true;
  };
  for (const set of known) {
    const varied = Object.entries(set).filter(([name]) => name in start && name in axes);
    if (more()) await takeIfBetter({ ...start, ...Object.fromEntries(varied) });
  }
  let improved = true;
  while (improved && more()) {
    improved = false;
    for (const [name, values] of Object.entries(axes)) {
      const present = tuning[name];
      if (present === undefined) continue;
      for (const value of byDistance(values, present)) {
        if (!more()) break;
        if (await takeIfBetter({ ...tuning, [name]: value })) improved = true;
      }
    }
  }
  const tried = { tried: seen.size, wrong };
  if (tuning === start) return { tuning, before: first, after: first, ...tried };
  // The first measurement is old and the best one may be luck, so both are repeated side by side.
  const [before, again] = [await timeOf(start), await timeOf(tuning)];
  if (!before || !again || !isSlower(again, before, MIN_GAIN)) {
    return { tuning: start, before: first, after: first, ...tried };
  }
  return { tuning, before, after: again, ...tried };
}
