/**
 * Verification of segmented sorts on devices and on the host, which finds errors that verification of the whole array
 * misses.
 */
import test from 'ava';
import type { Buffer } from '../../../src/device/memory/buffer.js';
import { keyColumn, keyWords } from '../../../src/keys/array.js';
import { keyCodec } from '../../../src/keys/key-codec.js';
import { verifySegmentSteps } from '../../../src/sort/host/host-segments.js';
import { nativeVerify } from '../../../src/sort/host/native-sort.js';
import { runSync } from '../../../src/sort/host/steps.js';
import { compareDigests, Verifier } from '../../../src/sort/verification/verify.js';
import { forEachDevice } from '../../each-device.js';

const OFFSETS = Uint32Array.of(0, 3, 3, 7, 8);
const KEYS = Uint32Array.of(3, 1, 2, 9, 2, 8, 2, 5);
const RIGHT = {
  sorted: Uint32Array.of(1, 2, 3, 2, 2, 8, 9, 5),
  moved: Uint32Array.of(1, 2, 0, 4, 6, 5, 3, 7),
};

/** Results with the expected verdict. */
const RESULTS: Record<string, { sorted: Uint32Array; moved: Uint32Array; right: [boolean, boolean] }> = {
  right: { ...RIGHT, right: [true, true] },
  'out of order within a segment': {
    sorted: Uint32Array.of(1, 3, 2, 2, 2, 8, 9, 5),
    moved: Uint32Array.of(1, 0, 2, 4, 6, 5, 3, 7),
    right: [false, true],
  },
  'keys that went to another segment': {
    sorted: Uint32Array.of(1, 2, 2, 2, 3, 8, 9, 5),
    moved: Uint32Array.of(1, 2, 4, 6, 0, 5, 3, 7),
    right: [true, false],
  },
  'equal keys that changed places': {
    sorted: RIGHT.sorted,
    moved: Uint32Array.of(1, 2, 0, 6, 4, 5, 3, 7),
    right: [false, true],
  },
  'a key that is another one': {
    sorted: Uint32Array.of(1, 2, 4, 2, 2, 8, 9, 5),
    moved: RIGHT.moved,
    right: [true, false],
  },
};

test('the host finds errors within segments', async (t) => {
  const { info } = keyColumn(KEYS);
  const keys = { dtype: 'u32', info, n: KEYS.length, view: keyWords(KEYS, info) } as const;
  const segments = { offsets: { n: OFFSETS.length, place: OFFSETS } };
  for (const [name, { sorted, moved, right }] of Object.entries(RESULTS)) {
    for (const fromSegment of [false, true]) {
      const own = fromSegment ? moved.map((at, i) => at - begin(i)) : moved;
      const job = { keys, settings: {}, sorted, moved: own };
      const where = { ...segments, fromSegment };
      const { order, permutation } = runSync(verifySegmentSteps(job, where));
      t.is(order && permutation, right[0] && right[1], `${name} ${fromSegment}`);
      const native = await nativeVerify(keys, {}, job, { segments: where });
      t.is(native.order && native.permutation, right[0] && right[1], `addon: ${name} ${fromSegment}`);
      const values = { place: moved.map((_, i) => i), bytes: 4 };
      const pairs = { sorted, values, moved: moved.slice() };
      t.is((await nativeVerify(keys, {}, pairs, { segments })).permutation, right[1], `pairs: ${name}`);
    }
  }
});

/** Start of the segment of an element. */
const begin = (i: number): number => Math.max(...OFFSETS.filter((offset) => offset <= i));

forEachDevice((title, open) => {
  test.serial(title('the device finds errors within segments'), async (t) => {
    const device = await open();
    const { queue } = device;
    const verifier = await Verifier.create(device, { keyBits: 32, valueBytes: 4, bySegments: true });
    const upload = (words: Uint32Array) => {
      const buffer = device.buffer(words.byteLength);
      queue.write(buffer, words);
      return buffer;
    };
    for (const [name, { sorted, moved, right }] of Object.entries(RESULTS)) {
      for (const fromSegment of [false, true]) {
        const own = fromSegment ? moved.map((at, i) => at - begin(i)) : moved;
        const buffers = [KEYS, sorted, own, OFFSETS].map(upload) as [Buffer, Buffer, Buffer, Buffer];
        const [keys, output, values, offsets] = buffers;
        const segments = { offsets, count: OFFSETS.length - 1, fromSegment };
        const bits = [0, 32] as const;
        const work = { n: KEYS.length, codec: keyCodec('u32', {}), bits, indices: true, segments };
        const before = verifier.input({ keys }, work);
        const after = verifier.output({ keys: output, values }, work);
        await queue.finish();
        const { order, permutation } = compareDigests(before, after);
        t.deepEqual([order, permutation], right, `${name} ${fromSegment}`);
        for (const buffer of buffers) buffer.release();
      }
    }
  });
});
