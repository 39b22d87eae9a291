/** Verification on the device finds a single error at any position. */

import test from 'ava';
import type { Device } from '../../../src/device/device.js';
import { keyCodec } from '../../../src/keys/key-codec.js';
import {
  compareDigests,
  type Elements,
  Verifier,
  type VerifyWork,
} from '../../../src/sort/verification/verify.js';
import { forEachDevice } from '../../each-device.js';

/** The verifier's verdict on an output, given the input. */
async function verified(
  device: Device,
  before: { readonly keys: Uint32Array; readonly values?: Uint8Array | Uint32Array },
  after: { readonly keys: Uint32Array; readonly values?: Uint8Array | Uint32Array },
  { indices = false, bits = [0, 32] }: Partial<Pick<VerifyWork, 'indices' | 'bits'>> = {},
) {
  const valueBytes = (after.values?.byteLength ?? 0) / after.keys.length;
  const verifier = await Verifier.create(device, { keyBits: 32, valueBytes });
  const made: { release(): void }[] = [];
  const upload = (array: Uint8Array | Uint32Array) => {
    const buffer = device.buffer(array.byteLength);
    made.push(buffer);
    device.queue.write(buffer, array);
    return buffer;
  };
  const elements = ({ keys, values }: typeof before): Elements => ({
    keys: upload(keys),
    ...(values && { values: upload(values) }),
  });
  const work = { n: after.keys.length, codec: keyCodec('u32'), bits, indices };
  const digests = [verifier.input(elements(before), work), verifier.output(elements(after), work)] as const;
  await device.queue.finish();
  for (const buffer of made) buffer.release();
  return compareDigests(...digests);
}

const RIGHT = { order: true, permutation: true };

forEachDevice((title, open, small) => {
  const n = small ? 3000 : 20_011; // several groups, and several blocks of one group
  const sorted = Uint32Array.from({ length: n }, (_, i) => 2 * i);
  const positions = Uint32Array.from({ length: n }, (_, i) => i);

  test.serial(title('correct sorts of keys, of pairs and of positions pass verification'), async (t) => {
    const device = await open();
    const reversed = sorted.toReversed();
    t.deepEqual(await verified(device, { keys: reversed }, { keys: sorted }), RIGHT);
    const backwards = positions.toReversed();
    const after = { keys: sorted, values: backwards };
    t.deepEqual(await verified(device, { keys: reversed, values: positions }, after), RIGHT);
    t.deepEqual(await verified(device, { keys: reversed }, after, { indices: true }), RIGHT);
  });

  test.serial(title('two swapped neighbours are found out of order at any position'), async (t) => {
    const device = await open();
    const missed: number[] = [];
    const step = small ? 331 : 127;
    // Every position where a block or a group may end, and many others.
    const places = [...Array.from({ length: Math.floor((n - 1) / step) }, (_, i) => i * step), 2047, n - 2];
    for (const at of new Set(places)) {
      const wrong = sorted.slice();
      [wrong[at], wrong[at + 1]] = [sorted[at + 1] ?? 0, sorted[at] ?? 0];
      const { order, permutation } = await verified(device, { keys: sorted }, { keys: wrong });
      if (order || !permutation) missed.push(at);
    }
    t.deepEqual(missed, []);
  });

  test.serial(title('keys that fall from one block or group to the next are out of order'), async (t) => {
    const device = await open();
    const missed: number[] = [];
    // All keys before the position are large, all from it on are small: the only descent.
    for (let at = 1; at < n; at += at % 1024 < 1022 ? 1022 : 1) {
      const keys = Uint32Array.from({ length: n }, (_, i) => (i < at ? i + n : i));
      if ((await verified(device, { keys }, { keys })).order) missed.push(at);
    }
    t.deepEqual(missed, []);
  });

  test.serial(title('a change of any byte of a value is found at every value width'), async (t) => {
    const device = await open();
    for (const width of [1, 2, 4, 8, 16]) {
      const values = Uint8Array.from({ length: n * width }, (_, i) => (i * 7 + (i >> 8)) & 0xff);
      const before = { keys: sorted, values };
      t.deepEqual(await verified(device, before, before), RIGHT);
      for (let byte = 0; byte < width; byte++) {
        const changed = values.slice();
        const at = (n - 1 - byte) * width + byte;
        changed[at] = (values[at] ?? 0) ^ 1;
        const { order, permutation } = await verified(device, before, { keys: sorted, values: changed });
        t.deepEqual([order, permutation], [true, false], `byte ${byte} of ${width}`);
      }
    }
  });

  test.serial(title('an output with a lost, changed or duplicated element is no permutation'), async (t) => {
    const device = await open();
    for (const at of [0, 1, n >> 1, n - 1]) {
      const wrong = sorted.slice();
      wrong[at] = (sorted[at] ?? 0) + 1;
      t.false((await verified(device, { keys: sorted }, { keys: wrong })).permutation, `key ${at}`);
      const moved = positions.slice();
      moved[at] = moved[(at + 1) % n] ?? 0;
      const before = { keys: sorted, values: positions };
      t.false((await verified(device, before, { keys: sorted, values: moved })).permutation, `value ${at}`);
    }
  });

  test.serial(title('positions of equal keys must rise, and none may appear twice'), async (t) => {
    const device = await open();
    const keys = sorted.map((key) => key >> 9);
    const check = (values: Uint32Array) => verified(device, { keys }, { keys, values }, { indices: true });
    t.deepEqual(await check(positions), RIGHT);
    const swapped = positions.slice();
    [swapped[10], swapped[11]] = [11, 10];
    t.deepEqual(await check(swapped), { order: false, permutation: true });
    const twice = positions.slice();
    twice[11] = 10;
    t.deepEqual(await check(twice), { order: false, permutation: false });
  });

  test.serial(title('bits outside of the bit window do not count'), async (t) => {
    const device = await open();
    const keys = Uint32Array.from({ length: n }, (_, i) => ((n - i) << 16) | ((i >> 4) & 0xffff));
    t.deepEqual(await verified(device, { keys }, { keys }, { bits: [0, 16] }), RIGHT);
    t.false((await verified(device, { keys }, { keys })).order);
    t.false((await verified(device, { keys }, { keys }, { bits: [16, 32] })).order);
  });
});
