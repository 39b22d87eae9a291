/** The expected contents of local memory after each level of a scan. */
import type { ScanStep } from '../lab/scan.js';
import type { Arithmetic, Sum } from './arithmetic.js';

/**
 * One update of a level: element `from` is combined into element `into`. A swap of the down-sweep also moves `into` to
 * `from`.
 */
export interface Move {
  readonly item: number;
  readonly into: number;
  readonly from: number;
  readonly swap?: boolean;
}

export interface Level {
  readonly title: string;
  /** Updates of one work-group; the same in all groups. */
  readonly moves: readonly Move[];
}

/** One launch at one level of the recursion. */
export interface TileModel {
  readonly levels: readonly Level[];
  /** Local memory of all work-groups, initially and after each level. */
  readonly rows: readonly (readonly Sum[])[];
  /** Sum of each tile. */
  readonly sums: readonly Sum[];
  /** Exclusive prefix sums within each tile. */
  readonly scanned: readonly Sum[];
}

/** Returns the number of local memory elements per work-group. */
export const rowWords = (step: ScanStep, groupSize: number): number =>
  step === 'sweep' || step === 'padded' ? 2 * groupSize : groupSize;

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

function sweepLevels(groupSize: number): Level[] {
  const up: Level[] = [];
  const down: Level[] = [];
  for (let pairs = groupSize, distance = 1; pairs >= 1; pairs /= 2, distance *= 2) {
    const at = (item: number) => distance * (2 * item + 1) - 1;
    const moves = (swap: boolean): Move[] =>
      range(pairs).map((item) => ({
        item,
        into: at(item) + distance,
        from: at(item),
        ...(swap && { swap }),
      }));
    up.push({ title: `up-sweep, distance ${distance}`, moves: moves(false) });
    down.unshift({ title: `down-sweep, distance ${distance}`, moves: moves(true) });
  }
  return [...up, { title: 'the sum of the tile is taken off, a zero put on', moves: [] }, ...down];
}

function hillisLevels(groupSize: number): Level[] {
  const levels: Level[] = [];
  for (let distance = 1; distance < groupSize; distance *= 2) {
    const moves = range(groupSize - distance).map((i) => ({
      item: i + distance,
      into: i + distance,
      from: i,
    }));
    levels.push({ title: `distance ${distance}`, moves });
  }
  return levels;
}

/** Computes the expected state of one launch. */
export function tileModel(
  values: readonly Sum[],
  step: ScanStep,
  { groupSize, tile, arithmetic }: { groupSize: number; tile: number; arithmetic: Arithmetic },
): TileModel {
  const { identity, combine } = arithmetic;
  const tiles = Math.max(1, Math.ceil(values.length / tile));
  const isSweep = step === 'sweep' || step === 'padded';
  const words = rowWords(step, groupSize);
  const perWord = tile / words;
  const levels = isSweep ? sweepLevels(groupSize) : hillisLevels(groupSize);
  const first = range(tiles * words).map((word) =>
    range(perWord)
      .map((k) => values[word * perWord + k] ?? identity)
      .reduce((a, b) => combine(a, b), identity),
  );
  const rows: Sum[][] = [first];
  let sums: Sum[] = [];
  for (const { moves } of levels) {
    const before = rows.at(-1) as Sum[];
    const after = [...before];
    for (let base = 0; base < before.length; base += words) {
      if (moves.length === 0) after[base + words - 1] = identity;
      for (const { into, from, swap } of moves) {
        const [a, b] = [before[base + from] as Sum, before[base + into] as Sum];
        after[base + into] = combine(b, a);
        if (swap) after[base + from] = b;
      }
    }
    if (isSweep && moves.length === 0) sums = range(tiles).map((t) => before[(t + 1) * words - 1] as Sum);
    rows.push(after);
  }
  const last = rows.at(-1) as Sum[];
  if (!isSweep) sums = range(tiles).map((t) => last[(t + 1) * words - 1] as Sum);
  const scanned = values.map((_, i): Sum => {
    const word = Math.floor(i / perWord);
    if (isSweep) return last[word] as Sum;
    let sum = word % words === 0 ? identity : (last[word - 1] as Sum);
    for (let k = word * perWord; k < i; k++) sum = combine(sum, values[k] as Sum);
    return sum;
  });
  return { levels, rows, sums, scanned };
}

/**
 * Computes all levels of the recursion (the values, the sums of their tiles, the sums of those, …) and the result of
 * each.
 */
export function scanModel(
  values: readonly Sum[],
  step: ScanStep,
  how: { groupSize: number; tile: number; arithmetic: Arithmetic },
): { readonly launches: TileModel[]; readonly results: (readonly Sum[])[] } {
  const own = tileModel(values, step, how);
  if (own.sums.length === 1) return { launches: [own], results: [own.scanned] };
  const above = scanModel(own.sums, step, how);
  const before = above.results[0] ?? [];
  const result = own.scanned.map((sum, i) =>
    how.arithmetic.combine(sum, before[Math.floor(i / how.tile)] as Sum),
  );
  return { launches: [own, ...above.launches], results: [result, ...above.results] };
}
