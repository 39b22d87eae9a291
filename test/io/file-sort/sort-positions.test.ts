import { readFileSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import test from 'ava';
import type { LargeFileJob } from '../../../src/io/file-sort/file-job.js';
import { positionDtype } from '../../../src/io/file-sort/positions.js';
import { sortFile } from '../../../src/io/file-sort/sort-file.js';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { generate } from '../../../src/io/operations/gen.js';
import { type Dtype, dtypeInfo } from '../../../src/keys/dtype.js';
import { DtypeError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { combinations } from '../../pairwise.js';
import { type ReferenceOrder, referenceArgsort } from '../../reference.js';
import { hostSorter } from '../host-sorter.js';

const { path, remove } = scratchFolder();
test.after.always(remove);
const sorter = hostSorter(test);

function sort(job: LargeFileJob, piped?: Uint8Array) {
  const pieces = Array.from({ length: 50 }, (_, i) =>
    (piped ?? new Uint8Array(0)).subarray(
      ((piped?.length ?? 0) * i) / 50,
      ((piped?.length ?? 0) * (i + 1)) / 50,
    ),
  );
  const stdin = Readable.from(pieces);
  const context = { stdin, stdout: new PassThrough().resume(), signal: new AbortController().signal };
  return sortFile(sorter(), job, context);
}

/** More keys with positions than the minimum memory holds, with few distinct values. */
const COUNT = 20_000;
const TIMES = 60;

/** Dtype; descending by a window of bits; from a pipe; the number of keys from which positions take 64 bits. */
const AXES = [
  ['u8', 'i16', 'f32', 'u64', 'f64'],
  [false, true],
  [false, true],
  [undefined, 1000],
] as const;

test('an external argsort is correct from a file and a pipe, with u32 and u64 positions', async (t) => {
  for (const [dtype, isWindowed, piped, wideFrom] of combinations(AXES)) {
    const keyBytes = dtypeInfo(dtype).bytes;
    const order: ReferenceOrder = isWindowed
      ? { descending: true, nan: 'first', bits: [2, keyBytes * 8 - 1] }
      : {};
    const some = generate({ dtype, count: COUNT, distribution: 'special', seed: 5 });
    const keys = Buffer.concat(Array(TIMES).fill(some));
    // Equal keys of one copy precede those of the next one only within their group.
    const expected = groupsOf(some, dtype, order, referenceArgsort(some, dtype, order)).flatMap((group) =>
      Array.from({ length: TIMES }, (_, copy) => group.map((i) => copy * COUNT + i)).flat(),
    );
    const from = piped ? '-' : path(`in.${dtype}`);
    if (!piped) writeFileSync(from, keys);
    const out = path(`${dtype}.npy`);
    const job = { in: from, out, argsort: true, dtype, wideFrom, memory: 2 ** 24, ...order };
    const report = await sort({ ...job, verify: true }, piped ? keys : undefined);
    t.truthy(report.external, 'in partitions');
    t.is(report.n, COUNT * TIMES);
    const made = readFileSync(out);
    const isWide = wideFrom !== undefined;
    const header = npyHeader(isWide ? 'u64' : 'u32', [COUNT * TIMES]);
    t.true(made.subarray(0, header.length).equals(header));
    const words = new Uint8Array(made.subarray(header.length)).buffer;
    const positions = isWide
      ? Float64Array.from(new BigUint64Array(words), Number)
      : Float64Array.from(new Uint32Array(words));
    const wrong = positions.findIndex((position, i) => position !== expected[i]);
    t.is(wrong, -1, `${dtype} ${piped} ${wideFrom} ${JSON.stringify(order)}`);
    t.is(positions.length, expected.length);
  }
});

/** Sorted positions, with those of equal keys grouped. */
function groupsOf(
  keys: Uint8Array,
  dtype: Dtype,
  order: ReferenceOrder,
  positions: readonly number[],
): number[][] {
  const keyBytes = dtypeInfo(dtype).bytes;
  const groups: number[][] = [];
  const pair = new Uint8Array(2 * keyBytes);
  for (const position of positions) {
    const last = groups.at(-1);
    const key = keys.subarray(position * keyBytes, (position + 1) * keyBytes);
    const before = last?.[0];
    // Stable: the later key comes first only if it is smaller, and the earlier one is then not larger.
    pair.set(key);
    if (before !== undefined) pair.set(keys.subarray(before * keyBytes, (before + 1) * keyBytes), keyBytes);
    if (last && referenceArgsort(pair, dtype, order)[0] === 0) last.push(position);
    else groups.push([position]);
  }
  return groups;
}

test('the number of keys decides between u32 and u64 positions, and a name with another dtype is refused', async (t) => {
  t.is(positionDtype(undefined), 'u32');
  t.is(positionDtype(2 ** 32 - 1), 'u32');
  t.is(positionDtype(2 ** 32), 'u64');
  writeFileSync(path('few.u8'), Buffer.from([3, 1, 2]));
  const job = { in: path('few.u8'), argsort: true, memory: 2 ** 24 };
  const report = await sort({ ...job, out: path('few.u64'), wideFrom: 3 });
  t.is(report.n, 3);
  t.deepEqual([...new BigUint64Array(new Uint8Array(readFileSync(path('few.u64'))).buffer)], [1n, 2n, 0n]);
  await t.throwsAsync(sort({ ...job, out: path('never.u32'), wideFrom: 3 }), { instanceOf: DtypeError });
  await t.throwsAsync(sort({ ...job, out: path('never.u64') }), { instanceOf: DtypeError });
});
