import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { FileSpill, MemorySpill, type Spill } from '../../../src/io/external/spill.js';
import { IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';

const { folder, path, remove } = scratchFolder();
test.after.always(remove);

const KINDS: Record<string, () => Spill> = {
  files: () => new FileSpill(folder),
  memory: () => new MemorySpill(),
};

for (const [kind, make] of Object.entries(KINDS)) {
  test.serial(`a spill to ${kind} reads back partitions from any position`, async (t) => {
    const spill = make();
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i);
    const buffer = bytes.slice();
    for (let at = 0; at < 1000; at += 300)
      await spill.write('a', at, buffer.subarray(at, Math.min(at + 300, 1000)));
    await spill.write('b', 0, Uint8Array.of(1, 2, 3));
    buffer.fill(0); // it may be reused
    await spill.sync(['a', 'b', 'c']);
    for (const [from, to] of [
      [0, 1000],
      [250, 650],
      [999, 1000],
      [5, 5],
    ] as const) {
      const into = new Uint8Array(to - from);
      await spill.read('a', from, into);
      t.deepEqual(into, bytes.slice(from, to));
    }
    await spill.leave('a');
    const into = new Uint8Array(3);
    await spill.read('a', 7, into);
    t.deepEqual(into, Uint8Array.of(7, 8, 9));
    await spill.drop('a');
    await spill.drop('a');
    await spill.drop('b');
    t.deepEqual(readdirSync(folder), []);
  });
}

test.serial('a truncated spill file and a missing folder are errors that name them', async (t) => {
  const spill = new FileSpill(folder);
  writeFileSync(path('partition-x'), 'abc');
  const short = await t.throwsAsync(spill.read('x', 1, new Uint8Array(9)), { instanceOf: IoError });
  t.regex(short?.message ?? '', /partition-x: it ends at byte 3/);
  await spill.drop('x');
  await spill.close();
  const gone = new FileSpill(join(folder, 'gone'));
  await t.throwsAsync(gone.write('x', 0, Uint8Array.of(1)), {
    instanceOf: IoError,
    message: /cannot write .*gone/,
  });
});

test('a memory spill keeps its own memory without a copy and copies other memory', async (t) => {
  const spill = new MemorySpill();
  const buffer = spill.allocate(6);
  buffer.set([1, 2, 3, 4, 5, 6]);
  await spill.write('a', 0, buffer.subarray(0, 2));
  await spill.write('b', 0, buffer.subarray(2));
  const other = Uint8Array.of(7, 8);
  await spill.write('a', 2, other);
  other.fill(0);
  const [a, b] = [new Uint8Array(4), new Uint8Array(4)];
  await spill.read('a', 0, a);
  await spill.read('b', 0, b);
  t.deepEqual([...a], [1, 2, 7, 8]);
  t.deepEqual([...b], [3, 4, 5, 6]);
  buffer[0] = 9;
  await spill.read('a', 0, a);
  t.is(a[0], 9, 'it was not copied');
});
