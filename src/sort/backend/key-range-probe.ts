/** Probes the range of keys before a large sort: bits that are equal in all codes need no pass. */
import { digitsOf } from '../../algorithms/digits.js';
import { codecArgument } from '../../device/codec-argument.js';
import type { Device } from '../../device/device.js';
import type { Buffer } from '../../device/memory/buffer.js';
import { u64 } from '../../device/queue/queue.js';
import { bytesOf, keyWords } from '../../keys/array.js';
import { encode, type KeyCodec } from '../../keys/key-codec.js';
import { buildForGroups, gridStrideGroups } from '../../primitives/group.js';
import { type Column, isOnDevice } from '../model/column.js';
import { KEYS_PER_SAMPLE, SAMPLE_COUNT } from './policy.js';

/** Window of code bits that a sort compares. */
export type Bits = readonly [begin: number, end: number];

/**
 * Smallest array in keys that is probed. A probe reads all keys and waits for the result; below this size,
 * sorting is faster.
 */
const MIN_PROBE_KEYS = { cpu: 2 ** 17, other: 2 ** 24 } as const;
/** Radix bits if the algorithm has no such parameter. */
const RADIX_BITS = 8;

/** Returns the part of a window outside which all codes are equal; empty if all codes are equal. */
export function narrowBits([begin, end]: Bits, differing: bigint): Bits {
  let [low, high] = [begin, end];
  while (high > low && ((differing >> BigInt(high - 1)) & 1n) === 0n) high--;
  while (low < high && ((differing >> BigInt(low)) & 1n) === 0n) low++;
  return [low, high];
}

const passCount = (bits: Bits, radixBits: number): number =>
  bits[0] >= bits[1] ? 0 : digitsOf(bits, radixBits).length;

/**
 * Returns the bits in which the codes of a few keys differ. Stops as soon as no pass can be saved.
 *
 * @param keys bit patterns of the width of the dtype
 */
function differingBits(
  keys: Iterable<number | bigint>,
  codec: KeyCodec,
  isEnough: (bits: bigint) => boolean,
): bigint {
  let first: bigint | undefined;
  let differing = 0n;
  for (const key of keys) {
    const code = encode(codec, BigInt(key));
    first ??= code;
    differing |= first ^ code;
    if (isEnough(differing)) break;
  }
  return differing;
}

const hostKeysOf = ({ place, origin }: Column): ArrayBufferView | undefined =>
  isOnDevice(place) ? origin : place;

/** Returns a few keys, sampled evenly from an array. */
function sampleKeys(array: ArrayBufferView, { n, info }: Column): (number | bigint)[] {
  const step = Math.floor(n / SAMPLE_COUNT);
  return Array.from({ length: SAMPLE_COUNT }, (_, i) => i * step).flatMap((start) => [
    ...keyWords(bytesOf(array, start * info.bytes, (start + KEYS_PER_SAMPLE) * info.bytes), info),
  ]);
}

/** Finds the digits that need no pass. */
export class KeyRangeProbe {
  readonly #device: Device;

  constructor(device: Device) {
    this.#device = device;
  }

  /** Whether a probe of these keys may pay: there are enough of them, and some on the host to sample first. */
  applies(keys: Column): boolean {
    const { type } = this.#device.capabilities;
    return hostKeysOf(keys) !== undefined && keys.n >= MIN_PROBE_KEYS[type === 'cpu' ? 'cpu' : 'other'];
  }

  /**
   * Narrows the window by the constant bits at either end. Returns the given window if that saves no pass, or
   * if a sample shows that a probe is futile. Without host keys to sample, the window is also returned as it
   * is: calls on device arrays do not wait before their end.
   *
   * @param buffer the keys on the device
   * @param options.radixBits radix bits of the algorithm; default: 8
   */
  async narrow(
    keys: Column,
    buffer: Buffer,
    { bits, codec, radixBits = RADIX_BITS }: { bits: Bits; codec: KeyCodec; radixBits?: number },
  ): Promise<Bits> {
    const hostKeys = hostKeysOf(keys);
    if (!hostKeys || !this.applies(keys)) return bits;
    const allPasses = passCount(bits, radixBits);
    const savesNoPass = (differing: bigint) => passCount(narrowBits(bits, differing), radixBits) >= allPasses;
    if (savesNoPass(differingBits(sampleKeys(hostKeys, keys), codec, savesNoPass))) return bits;
    const differing = await this.#differing(keys, buffer, codec);
    return savesNoPass(differing) ? bits : narrowBits(bits, differing);
  }

  /** Returns the bits in which any two codes differ. */
  async #differing({ n, info }: Column, buffer: Buffer, codec: KeyCodec): Promise<bigint> {
    const { queue, pool } = this.#device;
    const shape = { KEY_BITS: info.width, VALUE_BYTES: 0 };
    const { program, groupSize } = await buildForGroups(
      this.#device,
      'key_range_probe.cl',
      ['key_range_probe'],
      shape,
    );
    const groups = gridStrideGroups(this.#device, n, groupSize);
    const [all, any] = [pool.take(8), pool.take(8)];
    try {
      queue.fill(all, 0xffff_ffff, { bytes: 8 });
      queue.fill(any, 0, { bytes: 8 });
      queue.run(program.kernel('key_range_probe'), [buffer, all, any, u64(n), codecArgument(codec)], {
        global: groups * groupSize,
        local: groupSize,
      });
      const [ands, ors] = [new Uint32Array(2), new Uint32Array(2)];
      queue.read(all, ands);
      queue.read(any, ors);
      await queue.finish();
      const word = (words: Uint32Array) => (BigInt(words[1] ?? 0) << 32n) | BigInt(words[0] ?? 0);
      return BigInt.asUintN(info.width, word(ands) ^ word(ors));
    } finally {
      pool.give(all);
      pool.give(any);
    }
  }
}
