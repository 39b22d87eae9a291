import { bytesOf, type KeyWords, keyWords } from '../keys/array.js';
import { infinityBits } from '../keys/dtype.js';
import type { KeyCodec } from '../keys/key-codec.js';
import type { Binning } from '../primitives/histogram.js';
import type { ReduceOp } from '../primitives/reduce.js';
import { UnsupportedError } from '../util/errors.js';
import { byteLengthOf, type Column, isOnDevice } from './column.js';
import { hostDigits, hostHistogram, hostReduce, hostScan } from './host-primitives.js';
import { hostGather, hostSort } from './host-sort.js';
import type { ColumnSteps } from './operation.js';

/** The steps in host memory: what those of the device are to do, too. */
export class HostColumns implements ColumnSteps {
  async canonical(from: Column, to: Column): Promise<void> {
    const { width } = from.info;
    const infinity = infinityBits(from.info);
    const source = wordsOf(from);
    const target = wordsOf(to);
    if (infinity === 0n) setWords(target, source);
    else if (width === 64) canonical64(source, target);
    else canonical32(source as Uint32Array, target as Uint32Array, Number(infinity), 2 ** (width - 1) - 1);
  }

  async gather(from: Column, positions: Column, to: Column): Promise<void> {
    hostGather(wordsOf(from), u32Of(positions).subarray(0, to.n), from.info.bytes, wordsOf(to));
  }

  async segmentIds(offsets: Column, ids: Column): Promise<void> {
    const begins = u32Of(offsets);
    const out = u32Of(ids);
    for (let segment = 0; segment + 1 < begins.length; segment++) {
      out.fill(segment, begins[segment], begins[segment + 1]);
    }
  }

  async distinct(
    sorted: Column,
    positions: Column,
    out: { readonly firsts: Column; readonly places: Column },
  ): Promise<number> {
    const keys = wordsOf(sorted);
    const from = u32Of(positions);
    const firsts = u32Of(out.firsts);
    const places = u32Of(out.places);
    let distinct = 0;
    for (let i = 0; i < keys.length; i++) {
      if (i > 0 && keys[i] === keys[i - 1]) continue;
      firsts[distinct] = from[i] as number;
      places[distinct++] = i;
    }
    return distinct;
  }

  async counts(places: Column, n: number, to: Column): Promise<void> {
    const begins = u32Of(places);
    u32Of(to).forEach((_, i, counts) => {
      counts[i] = (i + 1 < counts.length ? (begins[i + 1] as number) : n) - (begins[i] as number);
    });
  }

  async select(
    keys: Column,
    codec: KeyCodec,
    to: { readonly keys: Column; readonly positions: Column },
  ): Promise<void> {
    const words = wordsOf(keys);
    // Sorting is no slower than selecting here: both would walk over all keys for each digit.
    const order = { descending: codec.descending, nan: codec.nanShift === 0n ? 'last' : 'first' } as const;
    const positions = new Uint32Array(keys.n);
    hostSort({ ...keys, view: words }, order, { moved: positions });
    const chosen = positions.slice(0, to.keys.n).sort();
    u32Of(to.positions).set(chosen);
    hostGather(words, chosen, keys.info.bytes, wordsOf(to.keys));
  }

  async reduce(keys: Column, op: ReduceOp): Promise<number | bigint> {
    return hostReduce({ ...keys, view: wordsOf(keys) }, op);
  }

  async scan(from: Column, to: Column, inclusive: boolean): Promise<void> {
    hostScan({ ...from, view: wordsOf(from) }, wordsOf(to), inclusive);
  }

  async histogram(keys: Column, binning: Binning): Promise<Uint32Array> {
    const words = { ...keys, view: wordsOf(keys) };
    return 'bits' in binning ? hostDigits(words, binning.bits) : hostHistogram(words, binning.edges);
  }
}

/** The bits of a column's keys. */
function wordsOf(column: Column): KeyWords {
  if (isOnDevice(column.place)) throw new UnsupportedError('a column on the device, among those of the host');
  return keyWords(bytesOf(column.place).subarray(0, byteLengthOf(column)), column.info);
}

const u32Of = (column: Column): Uint32Array => wordsOf(column) as Uint32Array;

/** One type stands for all four: both arrays are of the same. */
const setWords = (to: KeyWords, from: KeyWords): void => (to as Uint32Array).set(from as Uint32Array);

function canonical32(from: Uint32Array, to: Uint32Array, infinity: number, nan: number): void {
  for (let i = 0; i < from.length; i++) {
    const key = from[i] as number;
    const magnitude = key & nan;
    to[i] = magnitude === 0 ? 0 : magnitude > infinity ? nan : key;
  }
}

/** In halves of 32 bits: BigInt is slow. */
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
