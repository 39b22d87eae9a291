/**
 * The search for parameters with which an algorithm is faster on a device. It begins with sets of them that are the
 * best elsewhere, since parameters of a tile hang together; then one after the other is varied while the others stay
 * (coordinate descent), as long as something is gained and time is left. What does not sort right is never timed,
 * and a gain has to be more than the noise.
 */
import type { SearchSizes } from '../algorithms/algorithm.js';
import type { Tuning, Value } from '../algorithms/parameters.js';
import { ALGORITHMS } from '../algorithms/registry.js';
import type { Which } from '../algorithms/tuning-rows.js';
import type { Device } from '../device/device.js';
import { isPrimitive, PRIMITIVE_PARAMETERS } from '../sort/operations/primitive-tuning.js';
import { isSlower, type Timing } from './statistics.js';

/** What a sort is compiled for. */
export interface TuneShape {
  readonly keyBits: 8 | 16 | 32 | 64;
  readonly valueBytes: 0 | 4 | 8;
}

/** One search: an algorithm or a walk over keys, what it is compiled for, and the numbers of keys that its result is for. */
export interface TuneCase {
  readonly algorithm: string;
  readonly which: Which & TuneShape;
  /** Keys of the measured sorts. */
  readonly n: number;
}

type Axes = Readonly<Record<string, readonly Value[]>>;

/** The algorithms that have something to search, by name. */
export const TUNABLE: Readonly<Record<string, SearchSizes>> = Object.fromEntries(
  ALGORITHMS.flatMap(({ name, search }) => (search ? [[name, search]] : [])),
);

/** Those of them that a device's sorts of common sizes use, for the largest sorts first, and among these for keys of any width. */
export function searchedAlgorithms({ capabilities }: Pick<Device, 'capabilities'>): string[] {
  const kind = capabilities.type === 'cpu' ? 'cpu' : 'gpu';
  const maxKeys = ([, { sizes }]: [string, SearchSizes]): number => Math.max(...sizes.map(({ n }) => n));
  const forAny = ([, { keyBits }]: [string, SearchSizes]): number => Number(keyBits === undefined);
  return Object.entries(TUNABLE)
    .filter(([, { on }]) => on.includes(kind))
    .toSorted((a, b) => maxKeys(b) - maxKeys(a) || forAny(b) - forAny(a))
    .map(([name]) => name);
}

/** What can be varied for a case: some of it matters to sorts with values only, some to those without. */
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

/** Those of some parameters that are varied for a case: the others are as they stand elsewhere, and are not for it to keep. */
export function variedParameters(one: TuneCase, tuning: Tuning): Tuning {
  const axes = axesOf(one);
  return Object.fromEntries(Object.entries(tuning).filter(([name]) => Object.hasOwn(axes, name)));
}

/** What is sorted most, the most frequent first. */
export const SHAPES: readonly TuneShape[] = [
  { keyBits: 32, valueBytes: 0 },
  { keyBits: 32, valueBytes: 4 },
  { keyBits: 64, valueBytes: 0 },
  { keyBits: 64, valueBytes: 4 },
  { keyBits: 32, valueBytes: 8 },
];

/** All searches for some algorithms and shapes, the most important first. */
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

/** What came of one try. */
export type Trial =
  | { readonly result: 'ok'; readonly time: Timing }
  | { readonly result: 'wrong' | 'unsupported'; readonly reason: string };

/** What a search found. */
export interface SearchResult {
  readonly tuning: Tuning;
  readonly before: Timing;
  readonly after: Timing;
  /** Tries in all, and the ones among them that sorted wrong. */
  readonly tried: number;
  readonly wrong: readonly Tuning[];
}

/** Share of the time that a gain has to exceed, besides the noise. */
const MIN_GAIN = 0.02;

/** Share of the time that is saved. */
export const gain = ({ before, after }: Pick<SearchResult, 'before' | 'after'>): number =>
  1 - after.median / before.median;

/** Values next to the present one first: the best is rarely far. */
function byDistance(values: readonly Value[], present: Value): Value[] {
  const place = (value: Value): number => {
    const exact = values.indexOf(value);
    return exact >= 0 ? exact : values.filter((other) => other < value).length - 0.5;
  };
  const distance = (value: Value): number => Math.abs(place(value) - place(present));
  return values.filter((value) => value !== present).toSorted((a, b) => distance(a) - distance(b));
}

export interface SearchOptions {
  /** Verifies parameters, and times them when they sort right. */
  readonly attempt: (tuning: Tuning) => Promise<Trial>;
  /** False when time is up: the search ends with the best so far. */
  readonly more: () => boolean;
  readonly onTried?: (tuning: Tuning, tried: Trial) => void;
  /** Sets of parameters to try before all else; the others of a set are those of `start`. */
  readonly known?: readonly Tuning[];
}

/**
 * Searches from `start` on; only what `start` names, and is on an axis, is varied.
 *
 * @returns undefined when what is there now does not work, for a reason that `onTried` gets
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
  // What was measured long ago, or was the luckiest of many, has to show again side by side.
  const [before, again] = [await timeOf(start), await timeOf(tuning)];
  if (!before || !again || !isSlower(again, before, MIN_GAIN)) {
    return { tuning: start, before: first, after: first, ...tried };
  }
  return { tuning, before, after: again, ...tried };
}
