import { writeFileSync } from 'node:fs';
import ava from 'ava';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes

const { path, remove } = scratchFolder();
ava.after.always(remove);
const env = { CLSORT_CACHE_DIR: path('cache'), CLSORT_PROGRAM_CACHE: 'always' };
const warm = (args: readonly string[], more = {}) =>
  clsort(['warm', '--device', 'cpu', ...args], { env: { ...env, ...more } });

interface Report {
  readonly schema: string;
  readonly programs: readonly {
    readonly file: string;
    readonly origin: string;
    readonly milliseconds: number;
    readonly operation: string;
    readonly dtype: string;
  }[];
}

test('warm compiles what operations need, and finds it in the cache afterwards', async (t) => {
  const args = ['--operation', 'sortPairs-8,scan', '--dtype', 'u32', '--json'];
  const [cold, again] = [await warm(args), await warm(args)];
  t.is(cold.code, 0, cold.err);
  t.is(again.code, 0, again.err);
  const [compiled, cached]: Report[] = [JSON.parse(cold.out), JSON.parse(again.out)];
  t.is(compiled?.schema, 'clsort.warm/1');
  const programs = compiled?.programs ?? [];
  t.deepEqual([...new Set(programs.map(({ operation }) => operation.split('-')[0]))], ['sortPairs', 'scan']);
  for (const { origin, milliseconds, dtype } of programs) {
    t.is(origin, 'compiled');
    t.true(milliseconds > 0);
    t.is(dtype, 'u32');
  }
  const files = (report?: Report) => report?.programs.map(({ file }) => file).toSorted();
  t.deepEqual(files(cached), files(compiled));
  t.deepEqual([...new Set(cached?.programs.map(({ origin }) => origin))], ['cached']);
  const text = await warm(args.slice(0, -1));
  t.is(text.out.split('\n').length, programs.length + 2, text.out);
  t.regex(text.out, /\.cl\t\d+ ms\tcached\tsortPairs-8 u32\n/);
});

test('wrong names are usage errors, and a cache that cannot be written is an error', async (t) => {
  for (const args of [
    ['--operation', 'sor'],
    ['--dtype', 'u33'],
    ['--device', 'host'],
  ]) {
    const { code, err } = await clsort(['warm', ...args], { env });
    t.is(code, 2, err);
  }
  writeFileSync(path('a file'), '');
  const args = ['--operation', 'reduce-min', '--dtype', 'u32'];
  const { code, err } = await warm(args, { CLSORT_CACHE_DIR: path('a file') });
  t.is(code, 5, err);
  t.regex(err, /cannot store the programs in .*is not a folder/);
});
