import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

writeFileSync(path('a.u32'), Uint32Array.of(7, 3, 7, 1));
writeFileSync(path('b.u32'), Uint32Array.of(3, 9, 1, 3));

for (const [verb, keys] of [
  ['intersect', [1, 3]],
  ['union', [1, 3, 7, 9]],
  ['difference', [7]],
  ['setxor', [7, 9]],
] as const) {
  test(`${verb} writes sorted distinct keys, and reports them`, async (t) => {
    const args = [verb, path('a.u32'), path('b.u32')];
    const shown = await clsort([...args, '-o', path('out.u32')]);
    t.is(shown.out, `${path('out.u32')}: ${keys.length} distinct u32 keys, of 4 and 4\n`, shown.err);
    t.deepEqual([...new Uint32Array(new Uint8Array(readFileSync(path('out.u32'))).buffer)], [...keys]);
    const piped = await clsort([...args, '-r', '-o', '-', '--to', 'csv', '--device', 'cpu', '--verify']);
    t.is(piped.out, ['key', ...keys.toReversed(), ''].join('\n'), piped.err);
    const json = await clsort([...args, '-o', path('out.npy'), '--json']);
    t.deepEqual(JSON.parse(json.out), {
      ...{ schema: `clsort.${verb}/1`, n: [4, 4], written: keys.length, dtype: 'u32' },
      formats: { from: 'raw', to: 'npy' },
    });
  });

  test(`${verb} refuses invalid arguments`, async (t) => {
    writeFileSync(path('c.f64'), new Float64Array(2));
    const out = ['-o', path('no.u32')];
    for (const [args, message] of [
      [[path('a.u32'), ...out], /<b> is missing/],
      [[path('a.u32'), path('c.f64'), ...out], /different dtypes \(u32 and f64\)/],
      [[path('a.u32'), path('b.u32'), '-S', '100b', ...out], /Use --memory 1M or more/],
      [[path('a.u32'), path('b.u32'), '-o', path('no.f64')], /its extension is that of f64 keys/],
      [['-', '-', '--dtype', 'u32', ...out], /stdin/],
    ] as const) {
      const ran = await clsort([verb, ...args]);
      t.is(ran.code, 2, ran.err);
      t.regex(ran.err, message);
    }
    t.false(existsSync(path('no.u32')));
  });
}
