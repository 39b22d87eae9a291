import { byteRange, type KeyWords } from '../../keys/array.js';
import { encodeRecords } from '../../keys/codec-records.js';
import { infinityBits } from '../../keys/dtype.js';
import type { KeyCodec } from '../../keys/key-codec.js';
import type { ReduceOp, ScanOp } from '../../primitives/possible.js';
import { UnsupportedError } from '../../util/errors.js';
import { hostReduce } from '../host/host-primitives.js';
import { hostScanBy } from '../host/host-scan.js';
import { gatherSteps, sortSteps } from '../host/host-sort.js';
import { SLICE } from '../host/policy.js';
import { copySteps, inSlices, runYielding, type Steps } from '../host/steps.js';
import { type Column, column, hostColumn, viewOf, wordsOf } from '../model/column.js';
import type { ColumnKernel } from './column-kernel.js';
import type { ColumnKernels, KeyHeads, MovedKeys, SelectedKeys, SelectedSegments } from './column-kernels.js';
import { type RanksBy, ranksBy } from './policy.js';

/** Column kernels on the host, the specification of those on the device. They yield to the event loop. */
export class HostColumnKernels implements ColumnKernels {
  protected readonly signal: AbortSignal | undefined;
  readonly ranksBy: RanksBy = ranksBy('histograms');
  readonly writesWidePositions = true;

  /** @param signal makes a kernel throw an AbortedError */
  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  run<A extends readonly unknown[], R>(kernel: ColumnKernel<A, R>, ...args: A): Promise<R> {
    return this.#run(kernel.host(...args));
  }

  canonical(from: Column, to: Column): Promise<void> {
    const { width } = from.info;
    const infinity = infinityBits(from.info);
    const source = wordsOf(from);
    const target = wordsOf(to);
    if (infinity === 0n) return this.#run(copySteps(source, target));
    const nan = 2 ** (width - 1) - 1;
    const slices = inSlices(from.n, (start, end) => {
      const [keys, out] = [source.subarray(start, end), target.subarray(start, end)];
      if (width === 64) canonical64(keys, out);
      else canonical32(keys as Uint32Array, out as Uint32Array, Number(infinity), nan);
    });
    return this.#run(slices);
  }

  appendCodes(from: Column, codec: KeyCodec, to: Column, shift: number, first: boolean): Promise<void> {
    const infinity = Number(infinityBits(from.info));
    const nan = 2 ** (from.info.width - 1) - 1;
    const source = wordsOf(from) as Uint32Array;
    const target = wordsOf(to);
    const packed = new Uint32Array(target.buffer as ArrayBuffer, target.byteOffset, target.byteLength / 4);
    const canonical = new (source.constructor as typeof Uint32Array)(Math.min(from.n, SLICE));
    const codes = new Uint32Array(canonical.length);
    const slices = inSlices(from.n, (start, end) => {
      const keys = source.subarray(start, end);
      if (infinity > 0) canonical32(keys, canonical, infinity, nan);
      const plain = infinity > 0 ? canonical.subarray(0, keys.length) : keys;
      encodeRecords(plain, codes, 1, codec);
      const out = packed.subarray((start * to.info.bytes) / 4, (end * to.info.bytes) / 4);
      if (first) out.fill(0);
      if (to.info.width === 32) append32(codes, out, shift);
      else append64(codes, out, shift);
    });
    return this.#run(slices);
  }

  gather(from: Column, positions: Column, to: Column): Promise<void> {
    const indices = indicesOf({ ...positions, n: to.n });
    return this.#run(gatherSteps(wordsOf(from), indices, from.info.bytes, wordsOf(to)));
  }

  async gatherRows(
    from: readonly Column[],
    positions: Column,
    to: readonly Column[],
  ): Promise<() => number | undefined> {
    const largest = await this.reduce(positions, 'max');
    for (const [i, one] of from.entries()) await this.gather(one, positions, to[i] as Column);
    const n = from[0]?.n ?? 0;
    return () => (largest() < n ? undefined : Number(largest()));
  }

  segmentIds(begins: Column, ids: Column, positions?: Column): Promise<void> {
    return this.#run(fillSegments(u32Of(begins), u32Of(ids), positions && u32Of(positions)));
  }

  subtractBegins(positions: Column, ids: Column, offsets: Column): Promise<void> {
    const [counted, numbers, begins] = [positions, ids, offsets].map(u32Of) as ThreeArrays;
    const slices = inSlices(ids.n, (start, end) => {
      for (let i = start; i < end; i++) {
        counted[i] = (counted[i] as number) - (begins[numbers[i] as number] as number);
      }
    });
    return this.#run(slices);
  }

  async distinct(sorted: Column, out: KeyHeads, moved?: MovedKeys): Promise<() => number> {
    const distinct = await this.placeHeads(sorted, out.places);
    const heads = { ...out.places, n: distinct };
    const found = { ...out.keys, n: distinct };
    if (!moved) {
      await this.gather(sorted, heads, found);
      return () => distinct;
    }
    const firsts = column('u32', distinct, new Uint32Array(distinct));
    await this.gather(moved.positions, heads, firsts);
    await this.gather(moved.input, firsts, found);
    return () => distinct;
  }

  /** Writes where the runs of equal keys begin. @returns the number of runs */
  protected async placeHeads(sorted: Column, places: Column): Promise<number> {
    const keys = wordsOf(sorted);
    const begins = u32Of(places);
    let distinct = 0;
    const slices = inSlices(keys.length, (start, end) => {
      distinct = placeHeads(keys, begins, start, end, distinct);
    });
    await this.#run(slices);
    return distinct;
  }

  counts(places: Column, n: number, to: Column): Promise<void> {
    const begins = u32Of(places);
    const counts = u32Of(to);
    const endOf = (i: number): number => (i + 1 < counts.length ? (begins[i + 1] as number) : n);
    const slices = inSlices(counts.length, (start, end) => {
      for (let i = start; i < end; i++) counts[i] = endOf(i) - (begins[i] as number);
    });
    return this.#run(slices);
  }

  select(keys: Column, codec: KeyCodec, to: SelectedKeys): Promise<void> {
    return this.#run(selectSteps(keys, codec, to));
  }

  selectSorted(): boolean {
    return false;
  }

  async reduce(keys: Column, op: ReduceOp): Promise<() => number | bigint> {
    const value = await this.#run(hostReduce({ ...keys, view: wordsOf(keys) }, op));
    return () => value;
  }

  scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): Promise<void> {
    return this.#run(hostScanBy(hostColumn(from), wordsOf(to), op, inclusive));
  }

  async topCounts(offsets: Column, k: number, n: number, to: Column): Promise<() => boolean> {
    const [begins, counts] = [u32Of(offsets), u32Of(to)];
    let rises = begins[0] === 0 && begins[begins.length - 1] === n;
    const slices = inSlices(counts.length, (start, end) => {
      for (let i = start; i < end; i++) {
        const length = (begins[i + 1] ?? (begins[i] as number)) - (begins[i] as number);
        counts[i] = Math.max(0, Math.min(k, length));
        if (length < 0) rises = false;
      }
    });
    await this.#run(slices);
    return () => rises;
  }

  async selectSegments(keys: Column, codec: KeyCodec, at: SelectedSegments, to: SelectedKeys): Promise<void> {
    const [offsets, begins] = [u32Of(at.offsets), u32Of(at.begins)];
    for (let segment = 0; segment + 1 < offsets.length; segment++) {
      const [from, place] = [offsets[segment] as number, begins[segment] as number];
      const count = (begins[segment + 1] as number) - place;
      if (count === 0) continue;
      const positions = slice(to.positions, place, count);
      const own = { keys: slice(to.keys, place, count), positions };
      await this.select(slice(keys, from, (offsets[segment + 1] as number) - from), codec, own);
      const words = u32Of(positions);
      for (let i = 0; i < count; i++) words[i] = (words[i] as number) + from;
    }
  }

  topPositions(order: Column, offsets: Column, begins: Column, to: Column): Promise<void> {
    const [from, starts, places, positions] = [order, offsets, begins, to].map(u32Of) as [
      ...ThreeArrays,
      Uint32Array,
    ];
    const slices = inSlices(offsets.n - 1, (start, end) => {
      for (let s = start; s < end; s++) {
        const [begin, first] = [starts[s] as number, places[s] as number];
        const count = (places[s + 1] as number) - first;
        for (let i = 0; i < count; i++) positions[first + i] = from[begin + i] as number;
      }
    });
    return this.#run(slices);
  }

  #run<T>(steps: Steps<T>): Promise<T> {
    return runYielding(steps, this.signal);
  }
}

type ThreeArrays = [Uint32Array, Uint32Array, Uint32Array];

function* fillSegments(begins: Uint32Array, ids: Uint32Array, positions: Uint32Array | undefined): Steps {
  const fill = (segment: number, begin: number, end: number): void => {
    if (!positions) ids.fill(segment, begin, end);
    else for (let i = begin; i < end; i++) ids[positions[i] as number] = segment;
  };
  let elementsSinceYield = 0;
  for (let segment = 0; segment < begins.length; segment++) {
    const [begin, end] = [begins[segment] as number, begins[segment + 1] ?? ids.length];
    if (end - begin <= SLICE) fill(segment, begin, end);
    else yield* inSlices(end - begin, (from, to) => fill(segment, begin + from, begin + to));
    elementsSinceYield += 1 + end - begin;
    if (elementsSinceYield < SLICE) continue;
    elementsSinceYield = 0;
    yield;
  }
}

/**
 * Writes the positions of sorted keys that differ from the previous key.
 *
 * @returns the number of distinct keys so far
 */
function placeHeads(
  keys: KeyWords,
  places: Uint32Array,
  start: number,
  end: number,
  distinct: number,
): number {
  for (let i = start; i < end; i++) {
    if (i > 0 && keys[i] === keys[i - 1]) continue;
    places[distinct++] = i;
  }
  return distinct;
}

/** Sorts: on the host, a selection would also read all keys for each digit. */
function* selectSteps(keys: Column, codec: KeyCodec, to: SelectedKeys): Steps {
  const words = wordsOf(keys);
  const order = { descending: codec.descending, nan: codec.nanShift === 0n ? 'last' : 'first' } as const;
  const positions = new Uint32Array(keys.n);
  yield* sortSteps({ ...keys, view: words }, order, { moved: positions });
  const chosen = { ...to.positions, view: positions.subarray(0, to.keys.n) };
  const inInputOrder = u32Of(to.positions);
  yield* sortSteps(chosen, {}, { sorted: inInputOrder });
  yield* gatherSteps(words, inInputOrder, keys.info.bytes, wordsOf(to.keys));
}

/** Returns a range of a column's keys as a column. */
function slice(of: Column, from: number, n: number): Column {
  const { bytes } = of.info;
  return { ...of, n, place: byteRange(viewOf(of), from * bytes, (from + n) * bytes) };
}

/**
 * Returns the memory of a column of u32.
 *
 * @throws UnsupportedError for u64: positions from 2^32 on exist in the addon only
 */
export function u32Of(column: Column): Uint32Array {
  if (column.info.width === 64) {
    throw new UnsupportedError(
      'cannot process 2^32 keys or more: JavaScript has positions of 32 bits. Use the addon and arrays that are not resizable',
    );
  }
  return wordsOf(column) as Uint32Array;
}

/** Returns positions as u32. Those from 2^32 on become the largest number, which is not below any length. */
function indicesOf(positions: Column): Uint32Array {
  if (positions.info.width === 32) return u32Of(positions);
  const wide = wordsOf(positions) as BigUint64Array;
  return Uint32Array.from(wide, (one) => (one > 0xffff_ffffn ? 0xffff_ffff : Number(one)));
}

function append32(codes: Uint32Array, to: Uint32Array, shift: number): void {
  for (let i = 0; i < to.length; i++) to[i] = (to[i] as number) | ((codes[i] as number) << shift);
}

/** In halves of 32 bits, since BigInt is slow. */
function append64(codes: Uint32Array, to: Uint32Array, shift: number): void {
  for (let i = 0; 2 * i < to.length; i++) {
    const code = codes[i] as number;
    const low = shift < 32 ? code << shift : 0;
    const high = shift >= 32 ? code << (shift - 32) : shift === 0 ? 0 : code >>> (32 - shift);
    to[2 * i] = (to[2 * i] as number) | low;
    to[2 * i + 1] = (to[2 * i + 1] as number) | high;
  }
}

function canonical32(from: Uint32Array, to: Uint32Array, infinity: number, nan: number): void {
  for (let i = 0; i < from.length; i++) {
    const key = from[i] as number;
    const magnitude = key & nan;
    to[i] = magnitude === 0 ? 0 : magnitude > infinity ? nan : key;
  }
}

/** In halves of 32 bits, since BigInt is slow. */
function canonical64(from: KeyWords, to: KeyWords): void {
  const words = new Uint32Array(from.buffer, from.byteOffset, from.length * 2);
  const out = new Uint32Array(to.buffer, to.byteOffset, to.length * 2);
  for (let i = 0; i < words.length; i += 2) {
    const low = words[i] as number;
    const high = words[i + 1] as number;
    const magnitude = high & 0x7fff_ffff;
    const nan = magnitude > 0x7ff0_0000 || (magnitude === 0x7ff0_0000 && low !== 0);
    const zero = magnitude === 0 && low === 0;
    out[i] = nan ? 0xffff_ffff : low;
    out[i + 1] = nan ? 0x7fff_ffff : zero ? 0 : high;
  }
}
