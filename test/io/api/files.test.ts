import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import ava from 'ava';
import { closeAll, DtypeError, Sorter, sortFile, UsageError } from '../../../src/index.js';
import { npyHeader } from '../../../src/io/formats/npy-header.js';
import { generate } from '../../../src/io/operations/gen.js';
import { scratchFolder } from '../../cli/cli.js';
import { referenceArgsort, referenceSort } from '../../reference.js';

const test = ava.serial;
const { path, folder, remove } = scratchFolder();
ava.after.always(async () => {
  await closeAll();
  remove();
});

const keys = generate({ dtype: 'f32', count: 2000, distribution: 'special', seed: 12 });
const sorted = Buffer.from(referenceSort(keys, 'f32'));
writeFileSync(path('in.f32'), keys);
writeFileSync(path('big.float32be'), Buffer.from(keys).swap32());

test('sortFile sorts files from any format to any format', async (t) => {
  for (const [from, to, expected] of [
    ['in.f32', 'out.f32', sorted],
    ['in.f32', 'out.npy', Buffer.concat([npyHeader('f32', [2000]), sorted])],
    ['big.float32be', 'out.npy', Buffer.concat([npyHeader('f32', [2000]), sorted])],
    ['out.npy', 'out.f32be', Buffer.from(sorted).swap32()],
    ['big.float32be', 'out.sorted', Buffer.from(sorted).swap32()],
    ['out.f32be', 'out.f32', sorted],
  ] as const) {
    const { formats, n, dtype } = await sortFile(path(from), path(to), { device: 'host' });
    t.deepEqual([n, dtype, formats.length], [2000, 'f32', 2]);
    t.true(readFileSync(path(to)).equals(expected), `${from} to ${to}`);
  }
});

test('sortFile sorts several files together on the Sorter of the caller', async (t) => {
  const sorter = await Sorter.open({ device: 'host' });
  const both = Buffer.concat([keys, keys]);
  const options = { sorter, argsort: true, descending: true };
  await sortFile([path('in.f32'), path('big.float32be')], path('order.npy'), options);
  const order = Uint32Array.from(referenceArgsort(both, 'f32', { descending: true }));
  const expected = Buffer.concat([npyHeader('u32', [4000]), new Uint8Array(order.buffer)]);
  t.true(readFileSync(path('order.npy')).equals(expected));
  t.deepEqual(await sorter.sort(Uint8Array.of(2, 1)), Uint8Array.of(1, 2), 'it is still open');
  await sorter.close();
});

test('sortFile reads and writes file: URLs and FileHandles, and leaves handles open', async (t) => {
  await sortFile(pathToFileURL(path('in.f32')), pathToFileURL(path('url.f32')), { device: 'host' });
  t.true(readFileSync(path('url.f32')).equals(sorted));
  const [from, to] = [await open(path('in.f32')), await open(path('handle.f32'), 'w')];
  await sortFile(from, to, { dtype: 'f32', device: 'host' });
  t.is((await from.stat()).size, keys.length);
  await Promise.all([from.close(), to.close()]);
  t.true(readFileSync(path('handle.f32')).equals(sorted));
});

test('an argument that is not a file raises a UsageError with the expected form', async (t) => {
  const fails = async (args: readonly unknown[], message: RegExp) => {
    const call = (sortFile as (...args: unknown[]) => Promise<unknown>)(...args);
    await t.throwsAsync(call, { instanceOf: UsageError, message });
  };
  const input = path('in.f32');
  await fails([], /for input but got undefined/);
  await fails([input], /for output but got undefined/);
  for (const wrong of [null, 7, {}, new Uint8Array(2), new URL('https://example.org/a.f32')]) {
    await fails([wrong, path('never')], /expected a path, a file: URL, a stream or a FileHandle for input/);
    await fails([[input, wrong], path('never')], /for input/);
    await fails([input, wrong], /for output/);
  }
  await fails([input, path('never'), null], /expected an object for options but got null/);
  await fails([input, path('never'), 'f32'], /options/);
});

test('a raw key file that holds numbers as text causes a warning', async (t) => {
  const warnings = async (name: string, contents: Uint8Array) => {
    writeFileSync(path(name), contents);
    const messages: string[] = [];
    const onWarning = ({ message }: Error) => messages.push(message);
    await sortFile(path(name), path('warned'), { device: 'host', onWarning });
    return messages;
  };
  for (const name of ['text.f64', 'text.u32']) {
    const messages = await warnings(name, Buffer.from('1\n-2\n3.5'));
    t.is(messages.length, 1, name);
    t.regex(messages[0] ?? '', /begins with numbers as text.*--format lines or csv/);
  }
  t.deepEqual(await warnings('text.u8', Buffer.from('1\n2\n')), [], 'bytes may be meant');
  t.deepEqual(await warnings('keys.f64', Buffer.from(Float64Array.of(3, 1, 2).buffer)), []);
  t.deepEqual(await warnings('codes.u32', Buffer.from('ABCD')), []);
  t.deepEqual(await warnings('blank.f64', new Uint8Array(0)), []);
});

test('sortFile reads and writes streams', async (t) => {
  const written: Uint8Array[] = [];
  const to = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      written.push(chunk.slice());
      done();
    },
  });
  await sortFile(Readable.from([keys.subarray(0, 10), keys.subarray(10)]), to, {
    dtype: 'f32',
    device: 'host',
  });
  t.true(Buffer.concat(written).equals(sorted));
});

test('invalid arguments reject with typed errors and create no output', async (t) => {
  const refused = (
    from: string,
    to: string,
    options: object,
    instanceOf: typeof UsageError,
    message: RegExp,
  ) => t.throwsAsync(sortFile(from === '-' ? from : path(from), path(to), options), { instanceOf, message });
  await refused(
    'in.f32',
    'no',
    { dtpye: 'f32' },
    UsageError,
    /for an option but got "dtpye"\. Did you mean "dtype"/,
  );
  await refused('in.f32', 'no', { dtype: 'f33' }, DtypeError, /for dtype but got "f33"/);
  await refused(
    'in.f32',
    'no.u32',
    {},
    DtypeError,
    /cannot write f32 keys to .*: its extension is that of u32 keys/,
  );
  await refused('in.f32', 'no.f32', { argsort: true }, DtypeError, /cannot write u32 keys/);
  await refused('-', 'no', {}, UsageError, /cannot open '-'/);
  const sorter = await Sorter.open({ device: 'host' });
  await refused('in.f32', 'no', { sorter, device: 'host' }, UsageError, /option device with option sorter/);
  await sorter.close();
  await t.throwsAsync(sortFile([], path('no')), { instanceOf: UsageError, message: /at least one file/ });
  await t.throwsAsync(sortFile([path('in.f32'), path('in.f32')], path('no'), { bitRange: [0, 99] }), {
    instanceOf: UsageError,
  });
  t.deepEqual(
    readdirSync(folder).filter((name) => name.includes('no') || name.endsWith('.tmp')),
    [],
  );
});
