import { readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { Sorter } from '../../../src/index.js';
import { sortFile } from '../../../src/io/file-sort/sort-file.js';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { generate } from '../../../src/io/operations/gen.js';
import { dtypeInfo } from '../../../src/keys/dtype.js';
import { UsageError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { forEachSorter } from '../../each-sorter.js';
import { pick, type ReferenceOrder, referenceArgsort } from '../../reference.js';
import { nowhere } from '../context.js';

const test = ava.serial;
const { path, remove } = scratchFolder();
const sorters = [await Sorter.open({ device: 'host' }), await Sorter.open({ device: 'all' })];
ava.after.always(async () => {
  for (const sorter of sorters) await sorter.close();
  remove();
});

/** Every row or column sorted separately, in the simplest way. */
function reference(
  keys: Uint8Array,
  [rows, columns]: readonly [number, number],
  dtype: 'f64' | 'u16',
  axis: number,
  order: ReferenceOrder,
): { keys: Uint8Array; positions: number[] } {
  const at = (line: number, i: number) => (axis === 0 ? i * columns + line : line * columns + i);
  const [lines, length] = axis === 0 ? [columns, rows] : [rows, columns];
  const { bytes } = dtypeInfo(dtype);
  const positions: number[] = [];
  const from: number[] = [];
  for (let line = 0; line < lines; line++) {
    const places = Array.from({ length }, (_, i) => at(line, i));
    for (const [i, position] of referenceArgsort(pick(keys, bytes, places), dtype, order).entries()) {
      positions[at(line, i)] = position;
      from[at(line, i)] = at(line, position);
    }
  }
  return { keys: pick(keys, bytes, from), positions };
}

forEachSorter((title, open, small) => {
  test(title('rows and columns of a matrix are sorted and argsorted'), async (t) => {
    const sorter = await open();
    for (const dtype of ['f64', 'u16'] as const) {
      for (const shape of [
        [1, 50],
        [50, 1],
        [40, 30],
        [3, 3000],
      ] as const) {
        const [rows, columns] = shape;
        if (small && rows * columns > 50) continue;
        const keys = generate({ dtype, count: rows * columns, distribution: 'special', seed: 9 });
        writeFileSync(path('in.npy'), Buffer.concat([npyHeader(dtype, shape), keys]));
        for (const [axis, order] of [
          [0, {}],
          [-1, { descending: true }],
          [1, { nan: 'first' }],
        ] as const) {
          const expected = reference(keys, shape, dtype, axis, order);
          const name = `${dtype} ${shape} ${axis}`;
          const job = { in: path('in.npy'), out: path('out.npy'), axis, verify: true, ...order };
          const report = await sortFile(sorter, job, nowhere);
          t.like(
            report,
            { n: rows * columns, dtype, shape, verified: { order: true, permutation: true } },
            name,
          );
          const sorted = Buffer.concat([npyHeader(dtype, shape), expected.keys]);
          t.true(readFileSync(path('out.npy')).equals(sorted), name);
          await sortFile(sorter, { ...job, argsort: true }, nowhere);
          const positions = new Uint8Array(Uint32Array.from(expected.positions).buffer);
          t.true(
            readFileSync(path('out.npy')).equals(Buffer.concat([npyHeader('u32', shape), positions])),
            name,
          );
        }
      }
    }
  });
});

test('one column of a matrix is sorted as an array', async (t) => {
  const keys = Int32Array.from({ length: 60 }, (_, i) => (i * 37) % 61);
  writeFileSync(path('in.npy'), Buffer.concat([npyHeader('i32', [12, 5]), new Uint8Array(keys.buffer)]));
  const sorter = await Sorter.open({ device: 'host' });
  const report = await sortFile(sorter, { in: path('in.npy'), out: path('out.i32'), column: 3 }, nowhere);
  t.deepEqual([report.n, report.formats], [12, ['npy', 'raw']]);
  const column = Int32Array.from({ length: 12 }, (_, row) => keys[row * 5 + 3] ?? 0).sort();
  t.deepEqual(readFileSync(path('out.i32')), Buffer.from(column.buffer));
  const axis = { instanceOf: UsageError, message: /expected 0, 1, -1 or -2 for axis but got 2/ };
  await t.throwsAsync(sortFile(sorter, { in: path('in.npy'), out: path('no'), axis: 2 }, nowhere), axis);
  await sorter.close();
});

test('matrices without keys are written unchanged', async (t) => {
  const sorter = await Sorter.open({ device: 'host' });
  for (const shape of [
    [0, 4],
    [4, 0],
  ] as const) {
    for (const axis of [0, 1]) {
      writeFileSync(path('none.npy'), npyHeader('f32', shape));
      const report = await sortFile(sorter, { in: path('none.npy'), out: path('out.npy'), axis }, nowhere);
      t.like(report, { n: 0, shape });
      t.deepEqual(readFileSync(path('out.npy')), Buffer.from(npyHeader('f32', shape)));
    }
  }
  await sorter.close();
});
