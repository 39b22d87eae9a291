/** What the library loads when it is imported, and when the host engine sorts. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { packageRoot } from '../src/util/paths.js';

/** Prints the names of loaded shared libraries that are clsort's, or OpenCL's. */
const PROGRAM = `
  const { sharedObjects } = process.report.getReport();
  const loaded = () => process.report.getReport().sharedObjects
    .filter((file) => !sharedObjects.includes(file))
    .map((file) => file.split('/').at(-1));
  const { Sorter } = await import(process.argv[1]);
  const imported = loaded();
  const sorter = await Sorter.open({ device: 'host' });
  const [first] = await sorter.sort(Float64Array.from({ length: 100_000 }, (_, i) => -i));
  await sorter.close();
  console.log(JSON.stringify({ imported, sorted: loaded(), first }));
`;

for (const entry of ['dist/lib/index.js', 'dist/src/index.js']) {
  test(`${entry} loads no shared library, and the host engine none of OpenCL`, (t) => {
    const url = pathToFileURL(join(packageRoot, entry)).href;
    const args = ['--input-type=module', '--eval', PROGRAM, url];
    const { imported, sorted, first } = JSON.parse(
      execFileSync(process.execPath, args, { encoding: 'utf8' }),
    );
    t.deepEqual(imported, []);
    t.deepEqual(sorted, ['clsort.node']);
    t.is(first, -99_999);
  });
}
