/** The reports in docs/matrix are complete and small, and the page of tables is generated from them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { markdownReport } from '../../../src/matrix/report/markdown.js';
import { readReport } from '../../../src/matrix/report/read.js';
import { REPORT_SCHEMA } from '../../../src/matrix/report/report.js';
import { isBad } from '../../../src/matrix/row.js';
import { packageRoot } from '../../../src/util/paths.js';

const folder = join(packageRoot, 'docs', 'matrix');
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
/** Limit of one report, since every clone of the repository contains all reports. */
const MAX_BYTES = 260_000;

test('docs/matrix/README.md shows the tables of the reports beside it', async (t) => {
  const reports = await Promise.all(files.map((file) => readReport(join(folder, file))));
  const devices = reports.flatMap((report) => report.devices);
  const drawn = markdownReport({ schema: REPORT_SCHEMA, devices });
  t.is(readFileSync(join(folder, 'README.md'), 'utf8').trimEnd(), drawn.trimEnd());
  const platforms = devices.map(({ platform }) => platform);
  for (const platform of ['Clover', 'Oclgrind', 'Portable Computing Language', 'rusticl'])
    t.true(platforms.includes(platform));
  const pocl = devices.filter(({ platform }) => platform === 'Portable Computing Language');
  t.deepEqual(
    pocl.map(({ driver }) => Number.parseInt(driver, 10)),
    [3, 6],
    'with sub-groups and without',
  );
});

for (const file of files) {
  test(`${file} has no failed cell, is small and contains no local path`, async (t) => {
    const path = join(folder, file);
    t.true(statSync(path).size < MAX_BYTES);
    t.notRegex(readFileSync(path, 'utf8'), /\/(home|root|tmp|work|Users)\//);
    const { devices } = await readReport(path);
    t.is(devices.length, 1);
    const cells = devices.flatMap((device) => device.cells);
    t.true(cells.length > 50);
    t.deepEqual(
      cells.filter(({ status }) => isBad({ outcome: status })),
      [],
    );
  });
}
