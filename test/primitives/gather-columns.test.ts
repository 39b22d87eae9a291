/** Gathers of several columns at once, checked against the host. */
import test from 'ava';
import { StatusWords } from '../../src/device/status-words.js';
import { createGatherColumns } from '../../src/primitives/gather-columns.js';
import { UsageError } from '../../src/util/errors.js';
import { keysOf } from '../distributions.js';
import { forEachDevice } from '../each-device.js';
import { pick } from '../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const POISON = 0xa5a5a5a5;

forEachDevice((title, device, small) => {
  const n = 300;
  const all = Array.from({ length: 16 }, (_, i) => i + 1);
  // Fewer columns than a launch accepts, as many, and more.
  const shapes = small ? [[4], [1, 12, 2]] : [[4], [8, 1, 4], all.slice(0, 8), all, [...all, ...all, 16]];

  test.serial(title('columns of elements of 1 to 16 bytes are gathered by the same indices'), async (t) => {
    const opened = await device();
    const { queue } = opened;
    const gather = await createGatherColumns(opened);
    for (const outside of [undefined, n, n + 41, 2 ** 32 - 1]) {
      // The output has fewer rows than the input.
      const indices = Uint32Array.from({ length: n - 7 }, (_, i) => (i * 7 + 3) % n);
      if (outside !== undefined) indices[100] = outside;
      const inside = [...indices].map((index) => (index < n ? index : 0));
      for (const widths of shapes) {
        const inputs = widths.map((width, i) => bytesOf(keysOf('u8', 'uniform', n * width + i)).slice(i));
        const sizes = widths.map((width) => indices.length * width);
        const by = opened.buffer(indices.byteLength);
        const columns = widths.map((elementBytes) => ({
          elementBytes,
          input: opened.buffer(n * elementBytes),
          output: opened.buffer(Math.ceil((indices.length * elementBytes) / 4) * 4),
        }));
        queue.write(by, indices);
        for (const [i, { input, output }] of columns.entries()) {
          queue.write(input, inputs[i] as Uint8Array);
          queue.fill(output, POISON);
        }
        const slot = StatusWords.zeroed(opened);
        gather({ columns, indices: by, n: indices.length, length: n, slot });
        const made = sizes.map((size) => new Uint8Array(size));
        for (const [i, { output }] of columns.entries()) queue.read(output, made[i] as Uint8Array);
        await queue.finish();
        t.is(slot.word(), outside === undefined ? 0 : Math.min(outside - n + 1, 2 ** 32 - 1), `${widths}`);
        for (const [i, width] of widths.entries()) {
          const expected = pick(inputs[i] as Uint8Array, width, inside);
          if (outside !== undefined) expected.fill(0, 100 * width, 101 * width);
          t.is(Buffer.compare(made[i] as Uint8Array, expected), 0, `${width} bytes of ${widths}, ${outside}`);
        }
        for (const buffer of [by, ...columns.flatMap(({ input, output }) => [input, output])])
          buffer.release();
      }
    }
    const buffer = opened.buffer(16);
    const wide = { input: buffer, output: buffer, elementBytes: 17 };
    const work = { columns: [wide], indices: buffer, n: 1, length: 1, slot: StatusWords.zeroed(opened) };
    t.throws(() => gather(work), { instanceOf: UsageError });
    buffer.release();
  });
});
