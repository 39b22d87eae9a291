import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import ava from 'ava';
import { openSource } from '../../../src/io/streams/raw.js';
import { AbortedError, IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { where } from '../../where.js';

const { path, remove } = scratchFolder();
ava.after.always(remove);

const nothing = Readable.from([]);
const onUnix = where(process.platform !== 'win32', 'not on Windows', ava);
const onLinux = where(process.platform === 'linux', 'only on Linux', ava);
const fifo = (name: string): string => {
  spawnSync('mkfifo', [path(name)]);
  return path(name);
};

onLinux('a file of size 0, as under /proc, is read to its end', async (t) => {
  const source = await openSource('/proc/version', nothing);
  t.is(source.bytes, undefined);
  t.deepEqual(Buffer.from(await source.head(5)), readFileSync('/proc/version').subarray(0, 5));
  t.deepEqual(Buffer.from(await source.read(1)), readFileSync('/proc/version'));
  await source.close();
});

ava('an empty file has no bytes', async (t) => {
  writeFileSync(path('empty'), '');
  const source = await openSource(path('empty'), nothing);
  t.is((await source.head(10)).length, 0);
  t.is((await source.read(8)).length, 0);
  await source.close();
});

onUnix('a pipe is read until its writer closes it', async (t) => {
  const source = await openSource(fifo('pipe'), nothing);
  const read = source.read(2);
  await setTimeout(50); // there is no writer yet
  const writer = openSync(path('pipe'), 'w');
  writeSync(writer, 'abc');
  await setTimeout(50);
  writeSync(writer, 'd');
  closeSync(writer);
  t.is(Buffer.from(await read).toString(), 'abcd');
  await source.close();
});

onUnix('an abort signal ends a read of a silent pipe', async (t) => {
  const controller = new AbortController();
  const source = await openSource(fifo('silent'), nothing, controller.signal);
  const read = source.read(4);
  await setTimeout(50);
  controller.abort();
  await t.throwsAsync(read, { instanceOf: AbortedError });
  await t.throwsAsync(source.head(4), { instanceOf: AbortedError });
  await source.close();
});

ava('an unreadable file is an IoError with the cause', async (t) => {
  const refused = (name: string, message: RegExp) =>
    t.throwsAsync(openSource(path(name), nothing), { instanceOf: IoError, message }, name);
  symlinkSync('nowhere', path('dangling'));
  symlinkSync('circle', path('circle'));
  mkdirSync(path('folder'));
  symlinkSync('folder', path('to a folder'));
  await refused('dangling', /it links to nowhere, which does not exist/);
  await refused('circle', /circle/);
  await refused('folder', /directory/);
  await refused('to a folder', /directory/);
  await refused('none', /no such file/);
  await refused('line\nbreak', /no such file/);
  await refused('x'.repeat(300), /too long/);
});

onUnix('a socket is refused', async (t) => {
  const server = createServer().listen(path('socket'));
  await new Promise((resolve) => server.once('listening', resolve));
  await t.throwsAsync(openSource(path('socket'), nothing), { instanceOf: IoError, message: /socket/ });
  server.close();
});
