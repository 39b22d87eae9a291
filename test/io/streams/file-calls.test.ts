import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import test from 'ava';
import { blockingCalls } from '../../../src/io/streams/file-calls.js';
import { openOutput, withOutput } from '../../../src/io/streams/output.js';
import { openSource } from '../../../src/io/streams/raw.js';
import { IoError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const context = { stdout: new Writable(), signal: new AbortController().signal, files: blockingCalls };
const open = (name: string) => openSource(name, Readable.from([]), undefined, { files: blockingCalls });

test.serial('blocking calls write files aside, rename them and keep modes and links', async (t) => {
  const write = (name: string, text: string) =>
    withOutput(path(name), context, async (output) => {
      await output.reserve(text.length);
      await output.write(Buffer.from(text));
      await output.write(Buffer.from('.'));
      await output.patch?.(Buffer.from('W'), 0);
    });
  await write('new', 'words');
  t.is(readFileSync(path('new'), 'utf8'), 'Words.');
  chmodSync(path('new'), 0o640);
  symlinkSync('new', path('link'));
  await write('link', 'words of a link');
  t.is(readFileSync(path('new'), 'utf8'), 'Words of a link.');
  t.is(statSync(path('new')).mode & 0o777, 0o640);
  symlinkSync('made', path('dangling'));
  await write('dangling', 'x');
  t.is(readFileSync(path('made'), 'utf8'), 'W.');
  const dropped = await openOutput(path('new'), context);
  await dropped.write(Buffer.from('lost'));
  dropped.discard();
  dropped.discard();
  t.is(readFileSync(path('new'), 'utf8'), 'Words of a link.');
  t.deepEqual(readdirSync(path('.')).sort(), ['dangling', 'link', 'made', 'new']);
});

test.serial('blocking calls read files, also those without a size', async (t) => {
  writeFileSync(path('in'), 'some bytes');
  const source = await open(path('in'));
  t.is(source.bytes, 10);
  t.is(Buffer.from(await source.head(4)).toString(), 'some');
  t.is(Buffer.from(await source.read(1)).toString(), 'some bytes');
  await source.close();
  await source.close();
  if (process.platform === 'linux') {
    const version = await open('/proc/version');
    t.deepEqual(Buffer.from(await version.read(1)), readFileSync('/proc/version'));
    await version.close();
  }
});

test.serial('errors of blocking calls are those of other calls', async (t) => {
  symlinkSync('nowhere', path('broken'));
  writeFileSync(path('file'), '');
  for (const [name, message] of [
    ['missing', /cannot read .*missing: there is no such file/],
    ['broken', /broken: it links to nowhere, which does not exist/],
    ['.', /it is a directory/],
  ] as const) {
    await t.throwsAsync(open(path(name)), { instanceOf: IoError, message }, name);
  }
  for (const [name, message] of [
    ['no/file', /its folder does not exist/],
    ['file/x', /a part of the path is not a directory/],
    ['.', /it is a directory/],
  ] as const) {
    await t.throwsAsync(openOutput(path(name), context), { instanceOf: IoError, message }, name);
  }
});

test.serial('many outputs of a folder are complete when their writers return', async (t) => {
  const names = Array.from({ length: 50 }, (_, i) => `many-${i}`);
  await Promise.all(
    names.map(async (name, i) => {
      const files = i % 2 === 0 ? blockingCalls : undefined;
      const { signal } = new AbortController();
      await withOutput(path(name), { ...context, signal, files }, (output) =>
        output.write(Buffer.from(name)),
      );
      t.is(readFileSync(path(name), 'utf8'), name);
    }),
  );
});
