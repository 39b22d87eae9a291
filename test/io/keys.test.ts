import { symlinkSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import test from 'ava';
import { assertRawInput, assertRawOutput, keyFormat } from '../../src/io/keys.js';
import { openSource } from '../../src/io/raw.js';
import type { Dtype } from '../../src/keys/dtype.js';
import { FormatError, UsageError } from '../../src/util/errors.js';
import { scratchFolder } from '../cli/cli.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const text = Buffer.from('id,name,price\n1,apple,0.5\n2,pear,0.75\n');
const random = Buffer.from(Uint32Array.from({ length: 100 }, (_, i) => i * 2_654_435_761).buffer);
writeFileSync(path('text'), text);
writeFileSync(path('keys.u32'), random);
writeFileSync(path('keys.csv'), random);
symlinkSync('keys.csv', path('link'));

async function judge(name: string, dtype: Dtype, format?: 'raw', stdin?: Uint8Array): Promise<Uint8Array> {
  const source = await openSource(
    name,
    Readable.from(stdin ? [stdin.subarray(0, 5), stdin.subarray(5)] : []),
  );
  try {
    await assertRawInput(source, name, { dtype, format });
    return await source.read(1);
  } finally {
    await source.close();
  }
}

const refused = { instanceOf: FormatError, code: 'ERR_CLSORT_FORMAT' };

test('raw keys are let through, and read from their beginning', async (t) => {
  t.deepEqual(Buffer.from(await judge(path('keys.u32'), 'u32')), random);
  t.deepEqual(Buffer.from(await judge('-', 'u32', undefined, random)), random);
  t.deepEqual(Buffer.from(await judge('-', 'u32', undefined, random.subarray(0, 8))), random.subarray(0, 8));
});

test('another format is refused by its bytes, in a file and on stdin', async (t) => {
  const error = await t.throwsAsync(judge(path('text'), 'u16'), refused);
  t.regex(error?.message ?? '', /begins as text does.*--format raw/s);
  t.like((error as FormatError).details, { found: 'text', expected: 'raw keys' });
  await t.throwsAsync(judge('-', 'f64', undefined, text), { ...refused, message: /^stdin begins as text/ });
});

test('keys of one byte are not judged by their bytes, but by their names', async (t) => {
  t.deepEqual(Buffer.from(await judge(path('text'), 'u8')), text);
  t.deepEqual(Buffer.from(await judge('-', 'i8', undefined, text)), text);
  await t.throwsAsync(judge(path('keys.csv'), 'u8'), { ...refused, message: /CSV/ });
});

test('another format is refused by the name of the file, or of what it is linked to', async (t) => {
  await t.throwsAsync(judge(path('keys.csv'), 'u32'), {
    ...refused,
    message: /keys\.csv says that it is CSV/,
  });
  await t.throwsAsync(judge(path('link'), 'u32'), { ...refused, message: /keys\.csv says that it is CSV/ });
});

test('the format raw overrides all of it', async (t) => {
  t.deepEqual(Buffer.from(await judge(path('text'), 'u16', 'raw')), text);
  t.deepEqual(Buffer.from(await judge(path('link'), 'u32', 'raw')), random);
  await t.notThrowsAsync(assertRawOutput(path('out.npy'), 'raw'));
});

test('a name for another format is refused for raw output, also behind a link', async (t) => {
  symlinkSync('later.npy', path('dangling'));
  await t.throwsAsync(assertRawOutput(path('out.NPY')), { ...refused, message: /NumPy.*--format raw/s });
  await t.throwsAsync(assertRawOutput(path('dangling')), { ...refused, message: /later\.npy/ });
  await t.notThrowsAsync(assertRawOutput(path('out.u32')));
  await t.notThrowsAsync(assertRawOutput('-'));
});

test('an unknown format is a usage error that names the known ones', (t) => {
  t.is(keyFormat('raw'), 'raw');
  t.throws(() => keyFormat('npy'), { instanceOf: UsageError, message: /auto raw/ });
});
