/** The stage that proves a result: order inside each partition and to its neighbour, count and checksum. */
import { dtypeInfo } from '../../keys/dtype.js';
import { inTurns, type Steps } from '../../sort/host/steps.js';
import { Multiset, type Points, type StoredProducts } from '../multiset.js';
import type { UnitOrder } from '../unit-order.js';

/** Bytes of units that are compared at a time. */
const SLICE_BYTES = 2 ** 18;

/** What units a stream holds, each as often: as `Multiset` tells of keys, of longer units by their hashes. */
export class Checksum {
  readonly #unit: number;
  readonly #multiset: Multiset;
  readonly #seed: readonly [low: number, high: number];

  constructor(unit: number, points: Points) {
    this.#unit = unit;
    const width = ({ 1: 'u8', 2: 'u16', 4: 'u32' } as const)[unit] ?? 'u64';
    this.#multiset = new Multiset(dtypeInfo(width), points);
    const [seed = 0n] = points;
    this.#seed = [Number(seed & 0xffff_ffffn) | 1, Number(seed >> 32n) | 1];
  }

  /** Counts whole units in, which must not change meanwhile. One call at a time. */
  async add(bytes: Uint8Array): Promise<void> {
    if ([1, 2, 4, 8].includes(this.#unit)) return this.#multiset.add(bytes);
    const step = Math.max(1, Math.floor(SLICE_BYTES / this.#unit)) * this.#unit;
    for (let at = 0; at < bytes.length; at += step) {
      await this.#multiset.add(this.#hashes(bytes.subarray(at, at + step)));
    }
  }

  get stored(): StoredProducts {
    return this.#multiset.stored;
  }

  include(stored: StoredProducts): void {
    this.#multiset.include(stored);
  }

  equals(other: Checksum): boolean {
    return this.#multiset.equals(other.#multiset);
  }

  /** A hash of 64 bits of each unit. */
  #hashes(bytes: Uint8Array): Uint8Array {
    const n = bytes.length / this.#unit;
    const hashes = new Uint32Array(2 * n);
    for (let i = 0, at = 0; i < n; i++) {
      let [low, high] = this.#seed;
      for (const end = at + this.#unit; at < end; at++) {
        const byte = bytes[at] as number;
        low = Math.imul(low ^ byte, 0x9e37_79b1);
        low ^= low >>> 15;
        high = Math.imul(high + byte, 0x85eb_ca6b);
        high ^= high >>> 13;
      }
      hashes[2 * i] = low;
      hashes[2 * i + 1] = high;
    }
    return new Uint8Array(hashes.buffer);
  }
}

/** The first unit of a piece that belongs before the one in front of it, -1 when there is none. */
export function firstFall(order: UnitOrder, piece: Uint8Array, signal?: AbortSignal): Promise<number> {
  return inTurns(fallSteps(order, piece), signal);
}

function* fallSteps(order: UnitOrder, piece: Uint8Array): Steps<number> {
  const { unit, exact } = order;
  const n = piece.length / unit;
  const step = Math.max(2, Math.floor(SLICE_BYTES / unit));
  // Slices share a unit, so that none is left uncompared.
  for (let start = 0; start < n - 1; start += step - 1) {
    const prefixes = order.prefix(piece.subarray(start * unit, Math.min(start + step, n) * unit));
    const words = new Uint32Array(prefixes.buffer, prefixes.byteOffset, prefixes.length * 2);
    for (let w = 2; w < words.length; w += 2) {
      const [low, high] = [words[w] as number, words[w + 1] as number];
      const [lastLow, lastHigh] = [words[w - 2] as number, words[w - 1] as number];
      if (high > lastHigh || (high === lastHigh && low > lastLow)) continue;
      const i = start + w / 2;
      if (high < lastHigh || low < lastLow) return i;
      if (!exact && order.compare(piece, i, piece, i - 1) < 0) return i;
    }
    yield;
  }
  return -1;
}
