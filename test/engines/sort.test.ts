import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { KEY_FORMATS } from '../../src/io/formats/keys.js';
import { readParts } from '../../src/io/streams/parts.js';
import { scratchFolder } from '../cli/cli.js';
import { hostSorter } from '../io/host-sorter.js';
import { joinedParts, recordRequest, recordsOf, sortedRecords, sortHere } from './parts.js';

const sorter = hostSorter(test);

test('records are sorted stably into parts with a manifest, and no temporary files remain', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  const bytes = recordsOf(20_000, 3000); // equal ones are in all shards
  const report = await sortHere(sorter(), recordRequest(folder, bytes));
  t.like(report, { n: 20_000, bytes: bytes.length, parts: 5 });
  t.true((await joinedParts(path('out'))).equals(sortedRecords(bytes)));
  const names = readdirSync(path('out')).sort();
  t.deepEqual(names, ['manifest.json', ...[0, 1, 2, 3, 4].map((p) => `part-0000${p}.dat`)]);
  t.deepEqual(readdirSync(folder).sort(), ['.clsort', 'in.dat', 'out']);
  t.deepEqual(readdirSync(path('.clsort')), []);
});

for (const [name, keys] of [
  ['three distinct keys, each in its own partition', 3],
  ['a single distinct key, whose records are split into parts', 1],
] as const) {
  test(`the sort is stable with ${name}`, async (t) => {
    const { folder, path, remove } = scratchFolder();
    t.teardown(remove);
    const bytes = recordsOf(10_000, keys);
    await sortHere(sorter(), recordRequest(folder, bytes));
    t.true((await joinedParts(path('out'))).equals(sortedRecords(bytes)));
    const manifest = await readParts(path('out'));
    t.true((manifest?.parts.length ?? 0) >= 3);
  });
}

test('an empty input gives one empty part', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  writeFileSync(path('none.u32'), '');
  const request = { inputs: [path('none.u32')], out: path('out'), keys: {}, how: {} };
  const report = await sortHere(sorter(), request);
  t.like(report, { n: 0, parts: 1 });
  t.is((await joinedParts(join(folder, 'out'))).length, 0);
});

test('several key files, plain or compressed, are sorted together', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const keys = Float64Array.from({ length: 9000 }, (_, i) => Math.sin(i) * 1e3);
  keys[17] = Number.NaN;
  keys[18] = -0;
  keys[19] = 0;
  const bytes = Buffer.from(keys.buffer);
  writeFileSync(path('a.f64'), bytes.subarray(0, 24_000));
  writeFileSync(path('b.f64.gz'), gzipSync(bytes.subarray(24_000)));
  for (const descending of [false, true]) {
    const out = path(`out-${descending}`);
    const request = {
      inputs: [path('a.f64'), path('b.f64.gz')],
      out,
      keys: { descending },
      how: { radixBits: 4 },
      shards: 3,
      partitions: 6,
    };
    const report = await sortHere(sorter(), request);
    t.is(report.n, keys.length);
    const sorted = await joinedParts(out);
    const found = new Float64Array(sorted.buffer.slice(sorted.byteOffset, sorted.byteOffset + sorted.length));
    const expected = await sorter().sort(keys, { descending });
    t.deepEqual(Buffer.from(found.buffer), Buffer.from(expected.buffer));
  }
});

test('parts are written and read in every format', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const keys = Uint32Array.from({ length: 5000 }, (_, i) => Math.imul(i, 0x9e3779b1));
  writeFileSync(path('a.u32'), keys);
  for (const to of KEY_FORMATS.filter((format) => !['auto', 'raw'].includes(format))) {
    const request = { inputs: [path('a.u32')], out: path(to), keys: { to }, how: {}, partitions: 2 };
    const report = await sortHere(sorter(), request);
    t.like(report, { n: 5000, parts: 2 });
    const names = readdirSync(path(to));
    t.true(names.includes(`part-00001.${to}`), names.join());
    // And back, from the parts in order.
    const inputs = [0, 1].map((p) => path(`${to}/part-0000${p}.${to}`));
    const back = {
      inputs,
      out: path(`${to}-back`),
      keys: { to: 'raw', dtype: 'u32' },
      how: {},
      partitions: 1,
    };
    await sortHere(sorter(), back);
    const sorted = await joinedParts(path(`${to}-back`));
    t.deepEqual(new Uint8Array(sorted), new Uint8Array(keys.slice().sort().buffer));
  }
});

test('a table column and a big-endian array are read correctly', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const rows = Array.from({ length: 4000 }, (_, i) => [i, Math.imul(i, 0x9e3779b1) >> 8] as const);
  const expected = Int32Array.from(rows, ([, b]) => b).sort();
  const text = ['a;b', ...rows.map(([a, b]) => `${a};${b}`)].join('\n');
  writeFileSync(path('in.csv'), text);
  writeFileSync(path('in.ndjson.gz'), gzipSync(rows.map(([a, b]) => JSON.stringify({ a, b })).join('\n')));
  const bytes = Buffer.alloc(rows.length * 4);
  for (const [i, [, b]] of rows.entries()) bytes.writeInt32BE(b, i * 4);
  writeFileSync(path('in.i32be'), bytes);
  for (const [name, keys] of [
    ['in.csv', { column: 'b', delimiter: ';', dtype: 'i32' }],
    ['in.ndjson.gz', { column: 'b', dtype: 'i32' }],
    ['in.i32be', {}],
  ] as const) {
    const out = path(`out-${name}`);
    const cut = { shards: 3, partitions: 3, how: {} };
    await sortHere(sorter(), { inputs: [path(name)], out, keys: { ...keys, to: 'raw' }, ...cut });
    const sorted = await joinedParts(out);
    if (name === 'in.i32be') sorted.swap32();
    t.deepEqual(new Uint8Array(sorted), new Uint8Array(expected.buffer), name);
  }
});

test('a part that exceeds the memory is sorted on disk with the same result', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  const bytes = recordsOf(400_000, 50_000); // 6.1 MiB
  const request = recordRequest(folder, bytes, { partitions: 1 });
  await sortHere(sorter(), request, { context: { memory: 17 * 2 ** 20 } });
  t.true((await joinedParts(path('out'))).equals(sortedRecords(bytes)));
});

test('a part that changes on disk fails verification, and the sort leaves no files', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  const bytes = recordsOf(5000);
  for (const change of ['a bit', 'the order', 'the length'] as const) {
    const failing = sortHere(sorter(), recordRequest(folder, bytes), {
      listen: (event) => {
        if (event.is !== 'stage' || event.stage !== 'verify') return;
        const [id = ''] = readdirSync(path('.clsort'));
        const part = path(`.clsort/${id}/parts/part-00002.dat`);
        const contents = readFileSync(part);
        if (change === 'a bit') contents[9] = (contents[9] ?? 0) ^ 4;
        const other = {
          'a bit': contents,
          'the order': Buffer.concat([contents.subarray(160), contents.subarray(0, 160)]),
          'the length': contents.subarray(160),
        };
        writeFileSync(part, other[change]);
      },
    });
    await t.throwsAsync(failing, { code: 'ERR_CLSORT_MISMATCH' }, change);
    t.deepEqual(readdirSync(folder).sort(), ['.clsort', 'in.dat']);
    t.deepEqual(readdirSync(path('.clsort')), []);
  }
  await sortHere(sorter(), recordRequest(folder, bytes));
  t.true((await joinedParts(path('out'))).equals(sortedRecords(bytes)));
});

test('a result replaces an earlier result completely, but not a folder with other files', async (t) => {
  const { folder, path, remove } = scratchFolder();
  t.teardown(remove);
  const request = recordRequest(folder, recordsOf(3000));
  await sortHere(sorter(), { ...request, partitions: 9 });
  const before = readdirSync(path('out'));
  await sortHere(sorter(), { ...request, partitions: 3 });
  t.true(readdirSync(path('out')).length < before.length);
  t.deepEqual(readdirSync(folder).sort(), ['.clsort', 'in.dat', 'out']);
  writeFileSync(path('out/notes.txt'), 'mine');
  await t.throwsAsync(sortHere(sorter(), request), { code: 'ERR_CLSORT_USAGE', message: /notes\.txt/ });
  t.true(readdirSync(path('out')).includes('notes.txt'));
});
