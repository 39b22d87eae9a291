/** The device skips passes whose digit is constant. */
import test from 'ava';
import { digitsOf } from '../../src/algorithms/digits.js';
import { serialRadix } from '../../src/algorithms/serial-radix.js';
import type { Device } from '../../src/device/device.js';
import type { Buffer } from '../../src/device/memory/buffer.js';
import type { Order } from '../../src/keys/key-codec.js';
import { encode, keyCodec } from '../../src/keys/key-codec.js';
import { keysOf } from '../distributions.js';
import { forEachDevice } from '../each-device.js';
import { pick, referenceArgsort } from '../reference.js';
import { bytesOf, positionBytes, sortBytes } from './sorts.js';

type Bits = readonly [begin: number, end: number];
type Wide = 'u32' | 'i32' | 'u64' | 'f64';

interface Case {
  readonly dtype: Wide;
  /** Number of random bits of the keys; the other bits are zero. */
  readonly random: bigint;
  readonly bits?: Bits;
  readonly order?: Order;
}

const CASES: readonly Case[] = [
  { dtype: 'u32', random: 0n },
  { dtype: 'u32', random: 0xffn },
  { dtype: 'u32', random: 0xff00_0000n },
  { dtype: 'u32', random: 0x0001_ff80n }, // ten bits over two digits of 8 or 11
  { dtype: 'u32', random: 0xf000_000fn }, // the constant digits are in the middle
  { dtype: 'u32', random: 0xffff_fffen },
  { dtype: 'i32', random: 0x8000_00ffn, order: { descending: true } },
  { dtype: 'u32', random: 0x00ff_ff00n, bits: [3, 20] },
  { dtype: 'u32', random: 0xff00_0000n, bits: [0, 20] },
  { dtype: 'u64', random: 0x000f_0000_0000_000fn },
  { dtype: 'u64', random: 0x0000_00ff_ffff_0000n },
  { dtype: 'f64', random: 0x000f_f000_0000_0000n },
];

const N = 5003;
const RADIX_BITS = 11;

function keysOfCase({ dtype, random }: Case): BigUint64Array | Uint32Array {
  const wide = dtype === 'u64' || dtype === 'f64';
  const words = keysOf(wide ? 'u64' : 'u32', 'uniform', N) as BigUint64Array | Uint32Array;
  if (words instanceof BigUint64Array) return words.map((word) => word & random);
  return words.map((word) => (word & Number(random)) >>> 0);
}

/** The number of digits that are not constant, counted from the start of the window or from the first varying bit. */
function passesOf(keys: BigUint64Array | Uint32Array, { dtype, bits, order = {} }: Case): number {
  const codec = keyCodec(dtype, order);
  const codes = [...keys].map((key) => encode(codec, BigInt(key)));
  const differing = codes.reduce((all, code) => all | (code ^ (codes[0] ?? 0n)), 0n);
  const [begin, end] = bits ?? [0, keys.BYTES_PER_ELEMENT * 8];
  const differs = (bit: number) => ((differing >> BigInt(bit)) & 1n) === 1n;
  const changing = Array.from({ length: end - begin }, (_, i) => begin + i).filter(differs);
  const passes = (window: Bits) =>
    digitsOf(window, RADIX_BITS).filter(({ shift, bits: width }) =>
      changing.some((bit) => bit >= shift && bit < shift + width),
    ).length;
  if (changing.length === 0) return 0;
  const narrow: Bits = [changing[0] ?? 0, (changing.at(-1) ?? 0) + 1];
  return Math.min(passes([begin, end]), passes(narrow));
}

/** The number of passes that the device planned. */
async function plannedPasses(device: Device, keys: BigUint64Array | Uint32Array, one: Case): Promise<number> {
  const { queue } = device;
  const shape = { keyBits: (keys.BYTES_PER_ELEMENT * 8) as 32 | 64, valueBytes: 0 };
  const algorithm = await serialRadix.create(device, { ...shape, tuning: { radixBits: RADIX_BITS } });
  const bits = one.bits ?? ([0, shape.keyBits] as const);
  const made: Buffer[] = [];
  const buffer = (bytes: number): Buffer => {
    const taken = device.buffer(Math.ceil(bytes / 4) * 4);
    made.push(taken);
    return taken;
  };
  const [input, output] = [buffer(keys.byteLength), buffer(keys.byteLength)];
  const sizes = algorithm.scratch(N, { inPlace: false, bits });
  const scratch = Object.fromEntries(Object.entries(sizes).map(([name, bytes]) => [name, buffer(bytes)]));
  queue.write(input, keys);
  algorithm.enqueue(queue, { n: N, input, output, codec: keyCodec(one.dtype, one.order), bits, scratch });
  const planned = new Uint32Array((sizes.plannedPasses ?? 0) / 4);
  queue.read(scratch.plannedPasses as Buffer, planned);
  await queue.finish();
  for (const one of made) one.release();
  const words = 8; // of an iteration; the first one holds the status
  return Array.from({ length: planned.length / words - 1 }, (_, i) => planned[i * words]).filter(
    (does) => does === 1,
  ).length;
}

forEachDevice((title, device) => {
  for (const one of CASES) {
    const { dtype, random, bits, order = {} } = one;
    const claim = `${dtype} keys with random bits 0x${random.toString(16)}${bits ? ` on window [${bits})` : ''}`;

    test.serial(title(`constant digits need no pass: ${claim}`), async (t) => {
      const keys = keysOfCase(one);
      t.is(await plannedPasses(await device(), keys, one), passesOf(keys, one));
    });

    test.serial(title(`a sort that skips passes is correct: ${claim}`), async (t) => {
      const keys = bytesOf(keysOfCase(one));
      const unit = keys.length / N;
      const positions = referenceArgsort(keys, dtype, { ...order, ...(bits && { bits }) });
      const values = { bytes: bytesOf(keysOf('u8', 'uniform', N * 4, 5n)), width: 4 };
      const window = { dtype, order, ...(bits && { bits }) };
      for (const radixBits of [8, RADIX_BITS]) {
        for (const inPlace of [false, true]) {
          const options = { ...window, inPlace, tuning: { radixBits } };
          const plain = await sortBytes(await device(), serialRadix, keys, options);
          t.deepEqual(
            plain.keys,
            pick(keys, unit, positions),
            `keys, ${radixBits} bits, in place ${inPlace}`,
          );
          const pairs = await sortBytes(await device(), serialRadix, keys, { ...options, values });
          t.deepEqual(pairs.keys, plain.keys);
          t.deepEqual(pairs.values, pick(values.bytes, 4, positions), `values, ${radixBits} bits`);
          const argsort = await sortBytes(await device(), serialRadix, keys, { ...options, indices: 4 });
          t.deepEqual(argsort.values, positionBytes(positions, 4), `positions, ${radixBits} bits`);
        }
      }
    });
  }
});
