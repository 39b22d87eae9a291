/** Each kernel of the radix sorts against a plain model of its output. */
import test from 'ava';
import type { AlgorithmFactory, Stage } from '../../src/algorithms/algorithm.js';
import { digitsOf } from '../../src/algorithms/digits.js';
import { onesweep } from '../../src/algorithms/onesweep.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { serialRadix } from '../../src/algorithms/serial-radix.js';
import { tiledRadix } from '../../src/algorithms/tiled-radix.js';
import type { Device } from '../../src/device/device.js';
import { encode, keyCodec } from '../../src/keys/key-codec.js';
import { bytesOf, sortBytes } from '../algorithms/sorts.js';
import { keysOf } from '../distributions.js';
import { forEachOpened, testIf } from '../each-device.js';

const DTYPE = 'i32';
/** Keys of a tile of the onesweep test. */
const TILE = 256;
const ORDER = { descending: true } as const;
const codec = keyCodec(DTYPE, ORDER);
const encodeAll = (keys: Uint32Array) => Uint32Array.from(keys, (key) => Number(encode(codec, BigInt(key))));

/** Counts of the digits of some codes. */
function countsOf(codes: Uint32Array, shift: number, bits: number): Uint32Array {
  const counts = new Uint32Array(2 ** bits);
  for (const code of codes) {
    const digit = (code >>> shift) & (2 ** bits - 1);
    counts[digit] = (counts[digit] ?? 0) + 1;
  }
  return counts;
}

/** Codes after a stable pass on one digit. */
const passOf = (codes: Uint32Array, shift: number, bits: number): Uint32Array => {
  const digit = (code: number) => (code >>> shift) & (2 ** bits - 1);
  return Uint32Array.from(Array.from(codes).sort((a, b) => digit(a) - digit(b)));
};

const exclusive = (counts: Uint32Array): Uint32Array => {
  let sum = 0;
  return counts.map((count) => {
    sum += count;
    return sum - count;
  });
};

/** Sorts, and keeps a copy of every kernel's output. */
async function stagesOf(device: Device, factory: AlgorithmFactory, keys: Uint32Array, tuning?: Tuning) {
  const seen: { stage: Stage; data: Map<string, Uint32Array> }[] = [];
  const result = await sortBytes(device, factory, bytesOf(keys), {
    dtype: DTYPE,
    order: ORDER,
    ...(tuning && { tuning }),
    onStage: (stage) => {
      const data = new Map<string, Uint32Array>();
      for (const [name, buffer] of Object.entries(stage.buffers)) {
        const copy = new Uint32Array(buffer.bytes / 4);
        device.queue.read(buffer, copy);
        data.set(name, copy);
      }
      seen.push({ stage, data });
    },
  });
  const after = (kernel: string, pass: number | undefined, name: string): Uint32Array => {
    const data = seen.find(({ stage }) => stage.kernel === kernel && stage.pass === pass)?.data.get(name);
    if (!data) throw new Error(`${kernel} of pass ${pass} left no ${name}`);
    return data;
  };
  return { after, result };
}

await forEachOpened((title, device) => {
  const keys = bytesOf(keysOf('u32', 'uniform', 3000));
  const bits = new Uint32Array(keys.buffer, keys.byteOffset, 3000);

  test.serial(title('the counts, scans and passes of tiled match the model'), async (t) => {
    const { after, result } = await stagesOf(device, tiledRadix, bits);
    let codes: Uint32Array = encodeAll(bits);
    for (const [pass, { shift, bits: width }] of digitsOf([0, 32], 8).entries()) {
      const counted = after('tiled_upsweep', pass, 'counts');
      const groups = counted.length / 256;
      const sums = Uint32Array.from({ length: 256 }, (_, bin) =>
        counted.subarray(bin * groups, (bin + 1) * groups).reduce((a, b) => a + b, 0),
      );
      t.deepEqual(sums, countsOf(codes, shift, width), 'counts of all groups together');
      t.deepEqual(after('tiled_spine', pass, 'totals'), sums);
      const scanned = after('tiled_spine', pass, 'counts');
      for (let bin = 0; bin < 256; bin++) {
        const row = counted.slice(bin * groups, (bin + 1) * groups);
        t.deepEqual(scanned.slice(bin * groups, (bin + 1) * groups), exclusive(row), `bin ${bin}`);
      }
      codes = passOf(codes, shift, width);
      if (pass < 3) t.deepEqual(after('tiled_downsweep', pass, 'keys'), codes);
    }
    t.deepEqual(encodeAll(new Uint32Array(result.keys.buffer)), codes);
  });

  testIf(
    onesweep.available(device, { keyBits: 32, valueBytes: 0 }),
    title('the histogram, look-back sums and passes of onesweep match the model'),
    async (t) => {
      const { after } = await stagesOf(device, onesweep, bits, {
        groupSize: 64,
        keysPerItem: TILE / 64,
      });
      let codes: Uint32Array = encodeAll(bits);
      const counts = after('onesweep_histogram', undefined, 'counts');
      const groups = counts.length / (4 * 256);
      t.true(
        after('onesweep_histogram', undefined, 'state').every((word) => word === 0),
        'the state is clear',
      );
      t.true(
        after('onesweep_histogram', undefined, 'control').every((word) => word === 0),
        'the tickets are',
      );
      for (const [pass, { shift, bits: width }] of digitsOf([0, 32], 8).entries()) {
        const expected = countsOf(codes, shift, width);
        for (let bin = 0; bin < 256; bin++) {
          let sum = 0;
          for (let group = 0; group < groups; group++)
            sum += counts[(pass * groups + group) * 256 + bin] ?? 0;
          t.is(sum, expected[bin] ?? 0, `pass ${pass}, bin ${bin}`);
        }
        const tiles = Math.ceil(bits.length / TILE);
        const rowOf = (state: Uint32Array, tile: number): Uint32Array => {
          const margin = state.length - 4 * (1 + tiles) * 256; // before the rows of the first pass
          const from = margin + (pass * (1 + tiles) + 1 + tile) * 256;
          return state.slice(from, from + 256);
        };
        const before = exclusive(expected);
        t.deepEqual(
          rowOf(after('onesweep_pass', pass, 'state'), -1),
          before.map((sum) => (sum | 0x80000000) >>> 0),
          'a tile before the first: where the digits begin',
        );
        // The last tile of the pass holds the number of keys of each digit and of the smaller digits; bit 31 marks a
        // sum.
        const last = rowOf(after('onesweep_pass', pass, 'state'), tiles - 1);
        // Padding of the last tile counts as the largest digit, so that it comes last.
        expected[255] = (expected[255] ?? 0) + tiles * TILE - bits.length;
        t.deepEqual(
          last.map((word) => word & 0x3fffffff),
          before.map((sum, bin) => sum + (expected[bin] ?? 0)),
        );
        t.true(last.every((word) => word >>> 31 === 1));
        codes = passOf(codes, shift, width);
        if (pass < 3) t.deepEqual(after('onesweep_pass', pass, 'keys'), codes);
      }
    },
  );

  test.serial(title('the counts, offsets and passes of serial match the model'), async (t) => {
    const { after } = await stagesOf(device, serialRadix, bits, { radixBits: 11 });
    let codes: Uint32Array = encodeAll(bits);
    for (const [pass, { shift, bits: width }] of digitsOf([0, 32], 11).entries()) {
      // 3000 keys form one run.
      const counts = after('serial_count', pass, 'counts');
      t.deepEqual(counts.slice(0, 2 ** width), countsOf(codes, shift, width));
      t.deepEqual(after('serial_scan', pass, 'counts'), exclusive(counts));
      codes = passOf(codes, shift, width);
      if (pass < 2) t.deepEqual(after('serial_scatter', pass, 'keys'), codes);
    }
  });
});
