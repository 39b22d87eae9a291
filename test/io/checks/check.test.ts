import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable, Writable } from 'node:stream';
import test from 'ava';
import { countPieces, scanOrder } from '../../../src/io/checks/check.js';
import { Multiset, randomPoints } from '../../../src/io/checks/multiset.js';
import { OrderScan } from '../../../src/io/checks/order-scan.js';
import { raw } from '../../../src/io/formats/raw.js';
import { generate } from '../../../src/io/operations/gen.js';
import { openOutput } from '../../../src/io/streams/output.js';
import { openSource } from '../../../src/io/streams/raw.js';
import { isSameFile } from '../../../src/io/streams/same-file.js';
import { dtypeInfo } from '../../../src/keys/dtype.js';
import { IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { pick, referenceSort } from '../../reference.js';

const { path, folder, remove } = scratchFolder();
test.after.always(remove);

const nowhere = { stdout: new Writable(), signal: new AbortController().signal };
const nothing = Readable.from([]);
const keys = generate({ dtype: 'u64', count: 10_000, distribution: 'and3', seed: 5 });
writeFileSync(path('keys'), keys);

test('a file is read whole and in pieces', async (t) => {
  const source = await openSource(path('keys'), nothing);
  t.is(source.bytes, 80_000);
  t.deepEqual(await source.read(8), keys);
  const pieces: Uint8Array[] = [];
  for await (const piece of source.pieces(8)) pieces.push(piece);
  t.deepEqual(Buffer.concat(pieces), Buffer.from(keys));
  await source.close();
});

test('a stream whose chunks split elements yields whole elements', async (t) => {
  const stream = Readable.from([
    keys.subarray(0, 3),
    keys.subarray(3, 5),
    keys.subarray(5, 1001),
    keys.subarray(1001),
  ]);
  const source = await openSource('-', stream);
  const sizes: number[] = [];
  const pieces: Uint8Array[] = [];
  for await (const piece of source.pieces(8)) {
    sizes.push(piece.length % 8);
    pieces.push(piece.slice());
  }
  t.true(sizes.every((rest) => rest === 0));
  t.deepEqual(Buffer.concat(pieces), Buffer.from(keys));
});

test('a stream that ends within an element, or fails, is an IoError', async (t) => {
  const short = await openSource('-', Readable.from([keys.subarray(0, 13)]));
  await t.throwsAsync(short.read(8), {
    instanceOf: IoError,
    message: /cannot divide stdin .*5 of its 13 bytes are left over/,
  });
  const failing = new PassThrough();
  failing.destroy(new Error('cable cut'));
  const broken = await openSource('-', failing);
  await t.throwsAsync(broken.read(8), { instanceOf: IoError, message: /cannot read stdin: cable cut/ });
});

test('an output becomes visible only on commit, and a discarded output never does', async (t) => {
  const out = path('out');
  writeFileSync(out, 'before');
  const dropped = await openOutput(out, nowhere);
  await dropped.write(Buffer.from('half'));
  dropped.discard();
  t.is(readFileSync(out, 'utf8'), 'before');
  const output = await openOutput(out, nowhere);
  await output.write(Buffer.from('aft'));
  await output.write(Buffer.from('er'));
  t.is(readFileSync(out, 'utf8'), 'before');
  await output.commit();
  output.discard(); // has nothing left to drop
  t.is(readFileSync(out, 'utf8'), 'after');
  t.deepEqual(
    readdirSync(folder).filter((name) => name.includes('.out.')),
    [],
  );
});

test('a new output has the mode of the umask', async (t) => {
  const output = await openOutput(path('fresh'), nowhere);
  await output.commit();
  writeFileSync(path('plain'), '');
  t.is(statSync(path('fresh')).mode, statSync(path('plain')).mode);
});

test('a device file is written to and never replaced', async (t) => {
  const output = await openOutput('/dev/null', nowhere);
  await output.write(keys);
  await output.commit();
  t.true(statSync('/dev/null').isCharacterDevice());
});

test('isSameFile recognises two names of one file', async (t) => {
  t.true(await isSameFile(path('keys'), `${folder}/./keys`));
  t.false(await isSameFile(path('keys'), path('none')));
  t.false(await isSameFile('-', '-'));
});

test('a key out of order is found at its position, also across pieces', async (t) => {
  const sorted = referenceSort(keys, 'u64');
  const order = { dtype: 'u64', bits: [0, 64] } as const;
  const scan = async (...chunks: Uint8Array[]) => {
    const reader = await raw.open(await openSource('-', Readable.from(chunks)), { dtype: 'u64' });
    return scanOrder(reader.pieces(), new OrderScan(order));
  };
  const { n, descent: none } = await scan(sorted);
  t.deepEqual([n, none], [10_000, undefined]);
  for (const at of [1, 499, 500, 501, 9999]) {
    const wrong = sorted.slice();
    wrong.set(new Uint8Array(8).fill(0xff), (at - 1) * 8); // the largest of all
    wrong.set(new Uint8Array(8), at * 8);
    const { descent } = await scan(wrong.subarray(0, 4000), wrong.subarray(4000));
    t.deepEqual(descent, { at, before: 2n ** 64n - 1n, key: 0n });
  }
});

for (const [how, native] of [
  ['with the addon', true],
  ['without the addon', false],
] as const) {
  test(`a permutation is distinguished from a changed multiset ${how}`, async (t) => {
    const shuffled = pick(
      keys,
      8,
      Array.from({ length: 10_000 }, (_, i) => (i * 7919) % 10_000),
    );
    const points = randomPoints();
    const multiset = async (name: string) => {
      const source = await openSource(path(name), nothing);
      const found = new Multiset(dtypeInfo('u64').bytes, points, { native });
      await countPieces((await raw.open(source, { dtype: 'u64' })).pieces(), found);
      await source.close();
      return found;
    };
    const against = async (bytes: Uint8Array, name: string) => {
      writeFileSync(path(name), bytes);
      return (await multiset(name)).equals(await multiset('keys'));
    };
    t.true(await against(shuffled, `shuffled ${how}`));
    const changed = shuffled.slice();
    changed[12_345] = (changed[12_345] ?? 0) ^ 1;
    t.false(await against(changed, `changed ${how}`));
    const twice = shuffled.slice();
    twice.copyWithin(0, 8, 16);
    t.false(await against(twice, `twice ${how}`));
    t.false(await against(shuffled.subarray(8), `shorter ${how}`));
  });
}
