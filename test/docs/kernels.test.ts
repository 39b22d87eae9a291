/** docs/contributing/KERNELS.md has a row with a true reason for each file with kernels. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

const ROW = /^\| `(?<file>\w+\.cl)` \| `(?<user>[\w/.-]+)` \| (?<reasons>[a-z, ]+) \| (?<where>.*?) ?\|$/gm;
const rows = [...read('docs/contributing/KERNELS.md').matchAll(ROW)].map(
  ({ groups }) => groups as Record<'file' | 'user' | 'reasons' | 'where', string>,
);
const files = readdirSync(join(packageRoot, 'cl')).filter((file) => file.endsWith('.cl'));

test('each file with kernels has one row', (t) => {
  t.deepEqual(rows.map(({ file }) => file).toSorted(), files.toSorted());
});

test('each file is built by the source that its row names', (t) => {
  for (const { file, user } of rows) {
    const name = file.replace('.cl', '');
    t.regex(read(user), new RegExp(`\\b${name}(\\.cl)?'`), file);
  }
});

const sourcesOf = (folder: string): string =>
  readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => read(join(folder, file)))
    .join('\n');

test('taught files are shown or measured', (t) => {
  const sources = ['src/explain', 'src/bench/ladder', 'src/lab'].map(sourcesOf).join('\n');
  const taught = rows.filter(({ reasons }) => reasons.includes('taught'));
  t.true(taught.length > 5);
  for (const { file } of taught) t.true(sources.includes(`'${file}'`), file);
});

test('files that are fastest name existing measurements, and all reasons are known', (t) => {
  for (const { file, reasons, where } of rows) {
    const unknown = reasons.split(', ').filter((one) => !/^(?:taught|fallback|fastest|only)$/.test(one));
    t.deepEqual(unknown, [], file);
    if (reasons !== 'taught') t.true(where !== '', file);
    if (!reasons.includes('fastest')) continue;
    const results = [...where.matchAll(/`([\w.-]+\.json)`/g)].map(([, name]) => name as string);
    t.true(results.length > 0, file);
    for (const name of results) t.true(existsSync(join(packageRoot, 'scripts/results', name)), name);
  }
});
