import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { arrow } from '../../../../src/io/formats/arrow.js';
import { csv } from '../../../../src/io/formats/csv.js';
import { parquet } from '../../../../src/io/formats/parquet.js';
import { residentBytes, watchMemory } from '../../../../src/io/formats/subprocess/memory-watch.js';
import { runDecoder } from '../../../../src/io/formats/subprocess/tables/parquet-file.js';
import { FormatError } from '../../../../src/util/errors.js';
import { packageRoot } from '../../../../src/util/paths.js';
import { scratchFolder } from '../../../cli/cli.js';
import { FULL } from '../../../pairwise.js';
import { where } from '../../../where.js';
import { columnsOf, read, writeColumns } from './files.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const SEED = Number(process.env.CLSORT_TEST_SEED ?? 1);
const PROGRAM = join(packageRoot, 'dist/test/io/formats/subprocess/mutant-reader.js');

for (const [format, count] of [
  ['arrow', 300],
  ['arrows', 300],
  ['parquet', 30],
] as const) {
  test(`${format}: mutated files are read or refused without a crash or a hang`, async (t) => {
    const name = path(`mutant.${format}`);
    await writeColumns(format, name, columnsOf(300, true));
    const mutants = FULL ? 50 * count : count;
    const original = readFileSync(name);
    let [taken, refused, whole, done] = [0, 0, 0, 0];
    while (done < mutants) {
      writeFileSync(name, original);
      const fd = openSync(name, 'r+');
      const child = spawn(
        process.execPath,
        ['--max-old-space-size=256', PROGRAM, format, `${SEED + done}`, `${mutants - done}`],
        {
          stdio: ['ignore', 'pipe', 'pipe', fd],
          timeout: FULL ? 600_000 : 100_000, // ends the reader with SIGTERM
        },
      );
      closeSync(fd);
      const [stdout, stderr, [, signal]] = await Promise.all([
        text(child.stdout as Readable),
        text(child.stderr as Readable),
        once(child, 'close'),
      ]);
      t.is(signal, 'SIGKILL', stderr); // its own
      const seen = JSON.parse(stdout);
      taken += seen.read;
      refused += seen.refused;
      whole += seen.whole;
      done += seen.done;
    }
    t.log({ taken, refused, whole });
    t.is(taken + refused, mutants);
    t.true(refused > 0);
    if (format === 'arrow' || format === 'parquet') t.is(whole, 0, 'a truncated file was read as whole');
  });
}

test('a truncated file or a file of another format is a FormatError', async (t) => {
  await writeColumns('arrow', path('whole.arrow'), columnsOf(100, true));
  await writeColumns('parquet', path('whole.parquet'), columnsOf(100, true));
  for (const [format, name, bytes] of [
    [arrow, 'cut.arrow', readFileSync(path('whole.arrow')).subarray(0, -9)],
    [arrow, 'cut.arrows', readFileSync(path('whole.arrow')).subarray(8, 3000)],
    [arrow, 'text.arrow', Buffer.from('1,2,3\n'.repeat(100))],
    [parquet, 'cut.parquet', readFileSync(path('whole.parquet')).subarray(0, -1)],
    [parquet, 'gzip.parquet', gzipSync('1\n2\n')],
    [csv, 'bytes.csv', Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7919) & 255))],
  ] as const) {
    writeFileSync(path(name), bytes);
    await t.throwsAsync(read(format, path(name), { column: 0 }), { code: 'ERR_CLSORT_FORMAT' }, name);
  }
});

// Not every system reports the memory of a process.
const taken = residentBytes(process.pid);
where(
  taken !== undefined,
  'the system does not report the memory of a process',
  test,
)('watchMemory reports a process above its memory limit', async (t) => {
  const pid = process.pid;
  t.true((taken ?? 0) > 2 ** 20);
  const exceeded = await new Promise<boolean>((resolve) => {
    const watch = watchMemory(pid, 2 ** 20, () => resolve(watch.isExceeded));
    setTimeout(() => resolve(false), 5000).unref();
  });
  t.true(exceeded);
  const watch = watchMemory(pid, 2 ** 50, () => t.fail('it takes less'));
  await new Promise((resolve) => setTimeout(resolve, 150));
  watch.stop();
  t.false(watch.isExceeded);
});

test('errors of decoders advise to check the file once, and traps have no message', async (t) => {
  const advice = 'Check that the file is not damaged';
  for (const [cause, message] of [
    [Object.assign(new Error('unreachable'), { name: 'RuntimeError' }), `it cannot be decoded. ${advice}`],
    ['Parquet error: EOF', `Parquet error: EOF. ${advice}`],
    [new FormatError('it has no schema'), 'it has no schema'],
  ] as const) {
    await t.throwsAsync(
      runDecoder(() => Promise.reject(cause)),
      { instanceOf: FormatError, message },
    );
  }
  for (const format of ['parquet', 'arrow'] as const) {
    const name = path(`metadata.${format}`);
    await writeColumns(format, name, columnsOf(300, true));
    const bytes = readFileSync(name);
    bytes.fill(0xff, bytes.length - 60, bytes.length - 12);
    writeFileSync(name, bytes);
    const error = await t.throwsAsync(read(format === 'arrow' ? arrow : parquet, name));
    t.is(error?.message.split(advice).length, 2, error?.message);
  }
});
