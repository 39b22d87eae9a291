import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import ava from 'ava';
import {
  ClosedPipeError,
  type OutputContext,
  openOutput,
  withOutput,
} from '../../../src/io/streams/output.js';
import { AbortedError, IoError, UsageError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { where } from '../../where.js';

const { path, folder, remove } = scratchFolder();
const disk = path('small-disk');
mkdirSync(disk);
const isMounted =
  process.platform === 'linux' &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).status === 0;
ava.after.always(() => {
  if (isMounted) spawnSync('umount', ['-l', disk]);
  remove();
});
const onUnix = where(process.platform !== 'win32', 'not on Windows', ava);

const context = (over: Partial<OutputContext> = {}): OutputContext => ({
  stdout: new Writable(),
  signal: new AbortController().signal,
  ...over,
});

ava('a terminal gets text, and no binary data', async (t) => {
  for (const isTTY of [true, false]) {
    const got: Buffer[] = [];
    const stdout = Object.assign(
      new Writable({
        write(chunk, _, done) {
          got.push(chunk);
          done();
        },
      }),
      { isTTY },
    );
    const put = (bytes: Uint8Array) => withOutput('-', context({ stdout }), (output) => output.write(bytes));
    await put(Buffer.from('1,5\r\n\tnaïve\n'));
    t.is(got.length > 0, true);
    got.length = 0;
    for (const binary of [Float64Array.of(1, 2), Uint32Array.of(7), Buffer.from('\x93NUMPY\x01\x00')]) {
      const bytes = new Uint8Array(binary.buffer, binary.byteOffset, binary.byteLength);
      if (isTTY) await t.throwsAsync(put(bytes), { instanceOf: UsageError, message: /-o FILE.*--to csv/ });
      else await t.notThrowsAsync(put(bytes));
    }
    t.is(Buffer.concat(got).length, isTTY ? 0 : 29);
  }
});

async function put(name: string, contents: string): Promise<void> {
  await withOutput(path(name), context(), (output) => output.write(Buffer.from(contents)));
}

onUnix('a link stays, and its target is created or replaced, also through several links', async (t) => {
  mkdirSync(path('here'));
  mkdirSync(path('there/deep'), { recursive: true });
  symlinkSync('../there/file', path('here/link')); // dangling
  symlinkSync('here/link', path('chain'));
  symlinkSync('there/deep', path('elsewhere')); // '..' behind it is there, not the scratch folder
  symlinkSync('elsewhere/../up', path('through'));
  for (const contents of ['first', 'second']) {
    await put('chain', contents);
    t.is(readFileSync(path('there/file'), 'utf8'), contents);
    await put('through', contents);
    t.is(readFileSync(path('there/up'), 'utf8'), contents);
  }
  t.is(readlinkSync(path('chain')), 'here/link');
  t.is(readlinkSync(path('here/link')), '../there/file');
  t.true(lstatSync(path('through')).isSymbolicLink());
  t.deepEqual(readdirSync(path('here')), ['link']);
});

onUnix('an invalid output name is an IoError with the cause, before anything is written', async (t) => {
  symlinkSync('circle', path('circle'));
  symlinkSync('no/such/folder', path('into nothing'));
  for (const [name, message] of [
    ['circle', /circle/],
    ['into nothing', /folder does not exist/],
    ['there is none/', /directory/],
    ['x'.repeat(300), /too long/],
  ] as const) {
    await t.throwsAsync(openOutput(path(name), context()), { instanceOf: IoError, message }, name);
  }
  await t.throwsAsync(openOutput('', context()), { instanceOf: IoError, message: /cannot write ''/ });
});

ava('long names and names with line breaks are written like others', async (t) => {
  for (const name of ['long'.repeat(63), 'line\nbreak', ' ', '-x', '数'.repeat(80)]) {
    await put(name, name);
    t.is(readFileSync(path(name), 'utf8'), name);
  }
});

ava('reserving more space than is free is an error with both sizes', async (t) => {
  const output = await openOutput(path('large'), context());
  const { bavail, bsize } = statfsSync(folder);
  await t.notThrowsAsync(output.reserve(Math.min(1000, bavail * bsize)));
  const error = await t.throwsAsync(output.reserve(2 ** 52), {
    instanceOf: IoError,
    message: /it needs \d+ bytes/,
  });
  const { needed, free } = (error as IoError).details as { needed: number; free: number };
  t.is(needed, 2 ** 52);
  t.true(free > 0 && free < needed);
  output.discard();
});

ava('preallocated space is not part of the file', async (t) => {
  const output = await openOutput(path('ahead'), context());
  output.allocate?.(100_000);
  await output.write(Buffer.from('abc'));
  await output.commit();
  t.is(readFileSync(path('ahead'), 'utf8'), 'abc');
  const dropped = await openOutput(path('ahead'), context());
  dropped.allocate?.(100_000);
  dropped.discard();
  t.is(readFileSync(path('ahead'), 'utf8'), 'abc');
});

const onSmallDisk = where(isMounted, 'no small disk can be mounted here', ava);

onSmallDisk('a full disk is an error before anything is written', async (t) => {
  const output = await openOutput(join(disk, 'out'), context());
  output.allocate?.(1_000_000);
  await t.throwsAsync(output.write(Buffer.from('abc')), { instanceOf: IoError, message: /no space is left/ });
  output.discard();
  t.deepEqual(readdirSync(disk), []);
});

ava('a listener hears of each temporary file before it exists and after it is gone', async (t) => {
  const temporaryFiles = new Map<string, boolean>();
  const recorder = {
    add: (temporary: string) => temporaryFiles.set(temporary, existsSync(temporary)),
    delete: (temporary: string) => temporaryFiles.set(temporary, existsSync(temporary)),
  };
  const output = await openOutput(path('told'), context({ temporaryFiles: recorder }));
  t.deepEqual([...temporaryFiles.values()], [false]);
  const [temporary = ''] = temporaryFiles.keys();
  t.true(existsSync(temporary));
  temporaryFiles.set(temporary, true);
  await output.commit();
  t.deepEqual([...temporaryFiles], [[temporary, false]]);
  const dropped = await openOutput(path('told'), context({ temporaryFiles: recorder }));
  dropped.discard();
  t.is(temporaryFiles.size, 2);
});

ava('concurrent writers of one output do not interfere, and the last commit stays', async (t) => {
  const one = await openOutput(path('shared'), context());
  const other = await openOutput(path('shared'), context());
  await one.write(Buffer.from('one'));
  await other.write(Buffer.from('other'));
  await one.commit();
  t.is(readFileSync(path('shared'), 'utf8'), 'one');
  await other.commit();
  t.is(readFileSync(path('shared'), 'utf8'), 'other');
});

onUnix('a pipe is written once it has a reader', async (t) => {
  spawnSync('mkfifo', [path('pipe')]);
  const wrote = withOutput(path('pipe'), context(), (output) => output.write(Buffer.alloc(200_000, 'x')));
  await setTimeout(50);
  const reader = spawn('cat', [path('pipe')]);
  t.is((await text(reader.stdout)).length, 200_000);
  await wrote;
  t.true(lstatSync(path('pipe')).isFIFO());
});

onUnix('a pipe whose reader exits is a ClosedPipeError', async (t) => {
  spawnSync('mkfifo', [path('left')]);
  spawn('head', ['-c', '10', path('left')]);
  const wrote = withOutput(path('left'), context(), (output) => output.write(Buffer.alloc(2 ** 22)));
  await t.throwsAsync(wrote, { instanceOf: ClosedPipeError });
});

onUnix('an abort signal ends a write to a pipe without a reader or with an idle one', async (t) => {
  spawnSync('mkfifo', [path('lonely')]);
  for (const reader of [undefined, spawn('sh', ['-c', 'exec sleep 60 < "$0"', path('lonely')])]) {
    const controller = new AbortController();
    const wrote = withOutput(path('lonely'), context({ signal: controller.signal }), (output) =>
      output.write(Buffer.alloc(2 ** 22)),
    );
    await setTimeout(200);
    controller.abort();
    await t.throwsAsync(wrote, { instanceOf: AbortedError });
    reader?.kill();
  }
});

const readOnly = where(process.getuid?.() !== 0, 'root may write everywhere', onUnix); // root can write everywhere
readOnly('a read-only file is not replaced', async (t) => {
  writeFileSync(path('read-only'), 'before', { mode: 0o444 });
  await t.throwsAsync(openOutput(path('read-only'), context()), { message: /permission denied/ });
});
