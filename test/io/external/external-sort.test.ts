/** External sorts, each compared with the reference; session.test.ts covers interrupted ones. */
import { mkdirSync, readdirSync } from 'node:fs';
import { Writable } from 'node:stream';
import test from 'ava';
import { externalSort } from '../../../src/io/external/external-sort.js';
import { bytesOf } from '../../../src/keys/array.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { IoError, MismatchError } from '../../../src/util/errors.js';
import { Random } from '../../../src/util/random.js';
import { scratchFolder } from '../../cli/cli.js';
import { type Distribution, keysOf } from '../../distributions.js';
import { referenceSort } from '../../reference.js';
import { contextOf, jobOf, orderOf, sortSmall, TEN_OF_TWELVE, TINY } from './small.js';

const { path, remove } = scratchFolder();
const host = Sorter.open({ device: 'host' });
test.after.always(async () => {
  remove();
  await (await host).close();
});

/** A new folder for one test. */
const own = (name: string): string => {
  mkdirSync(path(name));
  return path(name);
};

const KINDS: readonly Distribution[] = ['uniform', 'two', 'constant', 'sorted', 'special', 'and9'];

for (const dtype of DTYPES) {
  test(`${dtype}: an external sort is correct for all distributions, in both directions, with NaNs at either end`, async (t) => {
    const sorter = await host;
    for (const [i, distribution] of KINDS.entries()) {
      const bytes = bytesOf(keysOf(dtype, distribution, 4100));
      const order = { descending: i % 2 === 1, nan: i % 3 === 1 ? 'first' : 'last' } as const;
      const small = { folder: own(`${dtype} ${distribution}`), bytes, order: orderOf(dtype, order) };
      const { sorted, report } = await sortSmall(sorter, small, { verify: true });
      t.true(sorted.equals(referenceSort(bytes, dtype, order)), distribution);
      t.deepEqual(report.verified, { order: true, permutation: true });
      t.true(report.spilledBytes >= bytes.length);
      t.deepEqual(readdirSync(small.folder).sort(), ['in', 'out']);
    }
  });
}

for (const name of ['from a file', 'from a pipe', 'in memory', 'from a pipe, in memory']) {
  test(`an external sort by a bit window is stable ${name}`, async (t) => {
    const order = { bits: [8, 20] as const, descending: true };
    const bytes = bytesOf(keysOf('u32', 'uniform', 20_000));
    const small = { folder: own(name), bytes, order: orderOf('u32', order), piped: name.includes('pipe') };
    const budget = name.includes('memory') ? { ...TINY, memory: 2 ** 30 } : TINY;
    const { sorted, report } = await sortSmall(await host, small, { budget, verify: true });
    t.true(sorted.equals(referenceSort(bytes, 'u32', order)));
    t.is(report.spilledBytes > 0, !name.includes('memory'));
    t.true(report.partitions > 3);
    t.deepEqual(readdirSync(small.folder).sort(), small.piped ? ['out'] : ['in', 'out']);
  });
}

test('records with equal prefixes are split and sorted stably', async (t) => {
  const random = new Random(3);
  for (const values of [1, 3, 250]) {
    const bytes = new Uint8Array(12 * 5000).map((_, i) => {
      const at = i % 12;
      return at < 9 ? 1 : at === 9 ? random.below(values) : Math.floor(i / 12) >> (at === 10 ? 8 : 0);
    });
    const { sorted } = await sortSmall(
      await host,
      { folder: own(`units of ${values}`), bytes, order: TEN_OF_TWELVE },
      { verify: true },
    );
    const all = Array.from({ length: 5000 }, (_, i) => bytes.subarray(12 * i, 12 * i + 12));
    const wanted = all.sort((a, b) => (a[9] ?? 0) - (b[9] ?? 0));
    t.true(sorted.equals(Buffer.concat(wanted)));
  }
});

test('an oversized partition is split until it fits, except for equal keys', async (t) => {
  // The sample of a pipe covers its start only: all later keys are in one partition.
  const keys = Uint32Array.from({ length: 30_000 }, (_, i) =>
    i < 2000 ? i : i < 20_000 ? 10 ** 6 + ((i * 7919) % 18_000) : 5,
  );
  const bytes = bytesOf(keys);
  const order = orderOf('u32');
  const budget = { ...TINY, memory: 8000 };
  const small = { folder: own('skew'), bytes, order, piped: true };
  const { sorted, report } = await sortSmall(await host, small, { budget, verify: true });
  t.true(sorted.equals(bytesOf(keys.toSorted())));
  t.true(report.spilledBytes > bytes.length + 4 * 18_000, `${report.spilledBytes}`);
});

test('inputs of zero, one and two records are sorted', async (t) => {
  for (const n of [0, 1, 2]) {
    for (const piped of [false, true]) {
      const bytes = bytesOf(Float64Array.of(3, -1).subarray(0, n));
      const small = { folder: own(`${n} ${piped}`), bytes, order: orderOf('f64'), piped };
      const { sorted } = await sortSmall(await host, small, { verify: true });
      t.deepEqual(sorted, Buffer.from(bytesOf(Float64Array.of(3, -1).subarray(0, n).sort())));
    }
  }
});

test('a sequential writer gets all pieces in order and is ended once', async (t) => {
  const bytes = bytesOf(keysOf('f32', 'uniform', 6000));
  const small = { folder: own('writer'), bytes, order: orderOf('f32') };
  const written: Buffer[] = [];
  let ended = 0;
  const writer = async () => ({
    write: async (piece: Uint8Array) => void written.push(Buffer.from(piece)),
    end: async () => void ended++,
  });
  await sortSmall(await host, small, { writer });
  t.true(Buffer.concat(written).equals(referenceSort(bytes, 'f32')));
  t.is(ended, 1);
  t.deepEqual(readdirSync(small.folder).sort(), ['in', 'out']);
});

test('stdout gets the result, and no temporary file remains', async (t) => {
  const bytes = bytesOf(keysOf('i16', 'uniform', 9000));
  const small = { folder: own('stdout'), bytes, order: orderOf('i16') };
  const got: Buffer[] = [];
  const stdout = new Writable({
    write(chunk: Uint8Array, _, done) {
      got.push(Buffer.from(chunk));
      done();
    },
  });
  const tmp = own('tmp of stdout');
  const job = { ...jobOf(small), out: '-', tmp, verify: true };
  await externalSort(await host, job, contextOf({ stdout }));
  t.true(Buffer.concat(got).equals(referenceSort(bytes, 'i16')));
  t.deepEqual(readdirSync(tmp), []);
  t.deepEqual(readdirSync(small.folder), ['in']);
});

test('wrong results of a Sorter fail verification', async (t) => {
  const bytes = bytesOf(keysOf('u16', 'uniform', 9000));
  const order = orderOf('u16');
  const wrong = {
    'not sorted': async (_: Sorter, keys: Uint8Array) => keys.slice(),
    'of other keys': async (_: Sorter, keys: Uint8Array) => new Uint8Array(keys.length),
  };
  for (const [name, sort] of Object.entries(wrong)) {
    const small = { folder: own(name), bytes, order: { ...order, sort } };
    await t.throwsAsync(async () => sortSmall(await host, small, { verify: true }), {
      instanceOf: MismatchError,
    });
    t.deepEqual(readdirSync(path(name)), ['in']);
  }
});

test('disk use is announced, and a disk that is too small is rejected before any write', async (t) => {
  const bytes = bytesOf(keysOf('u16', 'uniform', 9000));
  const small = { folder: own('disk'), bytes, order: orderOf('u16') };
  const notes: string[] = [];
  const onNote = (note: string) => notes.push(note);
  await sortSmall(await host, small, {}, { onNote });
  t.regex(notes.join(), /1 MiB of temporary files in .*disk/);
  const { input } = jobOf(small);
  const huge = { input: { ...input, bytes: 2 ** 52 } };
  const error = await t.throwsAsync(async () => sortSmall(await host, small, huge), { instanceOf: IoError });
  t.regex(error?.message ?? '', /temporary files in .* and the result in .*--tmp/);
  t.true(Number(error?.details.needed) > Number(error?.details.free));
  t.deepEqual(readdirSync(small.folder).sort(), ['in', 'out']);
});

test('progress increases from zero to the total', async (t) => {
  const bytes = bytesOf(keysOf('u32', 'uniform', 9000));
  const seen: string[] = [];
  let last = 0;
  const onProgress = ({ phase, done, total }: { phase: string; done: number; total: number }) => {
    if (seen.at(-1) !== phase) seen.push(phase);
    t.true(done > last && done <= total, `${phase} ${last} ${done} ${total}`);
    last = done;
    t.is(total, 18_000);
  };
  await sortSmall(await host, { folder: own('progress'), bytes, order: orderOf('u32') }, {}, { onProgress });
  t.deepEqual(seen, ['partition', 'sort']);
  t.is(last, 18_000);
});
