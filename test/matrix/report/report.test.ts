import { writeFileSync } from 'node:fs';
import test from 'ava';
import { parseArguments } from '../../../src/cli/parse.js';
import { specNamed } from '../../../src/cli/specs.js';
import { readFilter } from '../../../src/matrix/filter.js';
import { commandOf, deviceCommandOf } from '../../../src/matrix/report/command.js';
import { compareReports, isWorse } from '../../../src/matrix/report/compare.js';
import { junitReport } from '../../../src/matrix/report/junit.js';
import { markdownReport } from '../../../src/matrix/report/markdown.js';
import { readReport } from '../../../src/matrix/report/read.js';
import {
  type CellReport,
  type DeviceReport,
  type MatrixReport,
  reportJson,
} from '../../../src/matrix/report/report.js';
import { IoError, UsageError } from '../../../src/util/errors.js';
import { scratchFolder } from '../../cli/cli.js';
import { EVIL, info, mixed, reportOf } from './reports.js';

const { path, remove } = scratchFolder();
test.after.always(remove);

const deviceOf = ({ devices }: MatrixReport): DeviceReport => devices[0] as DeviceReport;
const cellsOf = (report: MatrixReport): readonly CellReport[] => deviceOf(report).cells;

test('a cell takes the worst status of its cases and keeps the data to repeat them', (t) => {
  const cells = cellsOf(mixed());
  t.deepEqual(
    cells.map(({ algorithm, dtype, status }) => `${algorithm} ${dtype} ${status}`),
    ['tiled u8 wrong', 'tiled u32 crash', 'tiled f64 timeout', 'amd u8 ok', 'amd u32 ok', 'amd f64 ok'],
  );
  const [cell] = cells;
  t.deepEqual(cell?.counts, { ok: 1, wrong: 1 });
  t.deepEqual(cell?.time, { n: 16_385, first: 0.5, again: 0.25 });
  t.is(cell?.plan, 'plan of tiled');
  t.is(cell?.bad?.length, 1);
  t.like(cell?.bad?.[0], { n: 33, order: 'ascending', keys: 'uniform', outcome: 'wrong', reason: 'why' });
  t.is(cells[3]?.skipped, 'why');
});

test('the command that repeats a cell parses, also for a device name with commas', async (t) => {
  const device = { ...deviceOf(mixed()), environment: { OCL_ICD_VENDORS: "it's" } };
  const [cell] = device.cells as [CellReport];
  t.is(device.spec, 'Device', 'the platform has another device');
  const line = commandOf(device, cell, cell.bad?.[0]);
  t.regex(line, /^OCL_ICD_VENDORS='it'\\''s' clsort matrix /);
  t.regex(line, / --seed 5$/);
  t.regex(
    commandOf(device, cell),
    /,dtype=u8,n=33\|16385,order=ascending,keys=uniform' --seed 5$/,
    'what was tried',
  );
  const { tried: _, ...whole } = cell;
  t.regex(commandOf(device, whole), /,dtype=u8 --seed 5 --quick$/, 'all cases of a level');
  const words = [...line.replace(/^.*clsort matrix /, '').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, a, b]) => a ?? b ?? '',
  );
  const args = parseArguments(await specNamed('matrix'), words) as { only: string[]; seed: string };
  t.is(args.seed, '5');
  const only = {
    ...{ operation: ['sort'], algorithm: ['tiled'], dtype: ['u8'], n: ['33'] },
    ...{ order: ['ascending'], keys: ['uniform'] },
  };
  t.deepEqual(readFilter(args.only[0] ?? ''), only);
});

test('the command that repeats a device selects exactly the cases that ran', async (t) => {
  const device = deviceOf(mixed());
  const line = deviceCommandOf(device);
  t.is(
    line,
    "clsort matrix --device Device --seed 5 --quick --only 'operation=sort,algorithm=tiled|amd,dtype=u8|u32|f64'",
  );
  const [, filter = ''] = /--only '(.*)'$/.exec(line) ?? [];
  t.deepEqual(readFilter(filter), readFilter('sort,tiled|amd,u8|u32|f64'));
  const { only: _, ...whole } = device;
  t.is(deviceCommandOf(whole), 'clsort matrix --device Device --seed 5 --quick', 'all of a level');
  for (const only of ['sort', [1]]) {
    const file = path('wrong.json');
    writeFileSync(file, JSON.stringify({ ...mixed(), devices: [{ ...device, only }] }));
    await t.throwsAsync(readReport(file), { instanceOf: UsageError });
  }
});

test('a JSON report has one line per cell and reads back as written, and other files are refused', async (t) => {
  const report = { ...mixed(EVIL), devices: [deviceOf(mixed(EVIL)), deviceOf(mixed())] };
  const text = reportJson(report);
  t.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(report)));
  t.is(text.match(/^ {4}\{"operation"/gm)?.length, 12);
  writeFileSync(path('report.json'), text);
  t.deepEqual(await readReport(path('report.json')), JSON.parse(text));
  for (const [name, broken] of [
    ['lines', text.split('\n')[3]],
    ['list', '[]'],
    ['null', 'null'],
    ['cells', text.replace('"status":"wrong"', '"status":"fine"')],
    ['schema', text.replace('matrix-report/1', 'matrix-report/9')],
  ] as const) {
    writeFileSync(path(name), broken ?? '');
    await t.throwsAsync(
      readReport(path(name)),
      { instanceOf: UsageError, message: /it is not a report of/ },
      name,
    );
  }
  await t.throwsAsync(readReport(path('absent')), { instanceOf: IoError });
});

test('a JUnit report has one suite per device and one case per cell, with escaped text', (t) => {
  const xml = junitReport(mixed(EVIL, info({ name: EVIL })));
  t.regex(xml, /<testsuite name="[^"<]*" tests="6" failures="1" errors="2" skipped="0" time="6\.000">/);
  t.is(xml.match(/<testcase /g)?.length, 6);
  t.is(xml.match(/<failure type="wrong"/g)?.length, 1);
  t.is(xml.match(/<error type="(crash|timeout)"/g)?.length, 2);
  t.regex(xml, /repeat: clsort matrix/);
  t.false(xml.includes('<script>'));
  t.false(xml.includes('\u0007'), 'XML has no such character');
  const skipped = junitReport(reportOf('gather,u8', () => ({ outcome: 'skipped', reason: 'a < b' })));
  t.regex(skipped, /skipped="1".*<skipped message="a &lt; b"\/>/s);
});

test('a Markdown report has even rows, the failures with their commands, and the reasons for skips', (t) => {
  const text = markdownReport(mixed(EVIL));
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  t.is(rows.length, 3);
  for (const row of rows) t.is(row.replaceAll('\\|', '').split('|').length, 7, row);
  t.regex(text, /\| sort \| tiled \| \*\*wrong\*\* \| \*\*crash\*\* \| \*\*timeout\*\* \|/);
  t.is(text.match(/^ {6}clsort matrix /gm)?.length, 3);
  t.regex(text, /Skipped.*\n\n- amd: /);
});

test('a comparison lists changed statuses, times beyond the factor, and added or removed cells', (t) => {
  const before = mixed();
  const after = reportOf('sort,tiled|amd,u8|u32|i64', ({ algorithm, dtype }) => {
    if (algorithm === 'tiled')
      return { outcome: dtype === 'u8' ? 'error' : 'ok', again: 0.25, reason: 'new' };
    return { outcome: 'ok', again: dtype === 'u8' ? 0.3 : 0.04 };
  });
  const comparison = compareReports(before, after, 2);
  const [device] = comparison.devices;
  t.is(device?.compared, 4);
  const changes = device?.changes.map(
    ({ algorithm, dtype, is, isWorse: worse, ratio }) =>
      `${algorithm} ${dtype} ${is} ${worse} ${ratio ?? ''}`,
  );
  t.deepEqual(changes, [
    'tiled f64 gone false ',
    'amd f64 gone false ',
    'tiled u8 status false ', // wrong is as bad as error
    'tiled u32 status false ', // crash, now ok
    'tiled i64 new false ',
    'amd u8 slower true 2.4',
    'amd u32 faster false 0.32',
    'amd i64 new false ',
  ]);
  t.true(isWorse(comparison));
  t.false(isWorse(compareReports(before, after, 3)));
  t.deepEqual(compareReports(before, before, 1).devices[0]?.changes, []);
});

test('a comparison rates lost ok cells and lost devices as worse, and ignores times below 1 ms', (t) => {
  const well = reportOf('gather,u8|u32');
  t.true(
    isWorse(
      compareReports(
        well,
        reportOf('gather,u8|u32', () => ({ outcome: 'skipped' })),
        2,
      ),
    ),
  );
  t.true(
    isWorse(
      compareReports(
        well,
        reportOf('gather,u8|u32', () => ({ outcome: 'crash' })),
        2,
      ),
    ),
  );
  const both = {
    ...well,
    devices: [deviceOf(well), deviceOf(reportOf('gather,u8', undefined, info({ name: 'B' })))],
  };
  const less = compareReports(both, well, 2);
  t.deepEqual(less.onlyBefore, ['B']);
  t.true(isWorse(less));
  t.deepEqual(compareReports(well, both, 2).onlyAfter, ['B']);
  const quick = (again: number) => reportOf('gather,u8', () => ({ outcome: 'ok', again }));
  t.false(isWorse(compareReports(quick(1e-5), quick(9e-4), 2)));
  t.true(isWorse(compareReports(quick(1e-5), quick(2e-3), 2)));
});

test('a comparison matches the single devices of two reports, also under different names', (t) => {
  const renamed = reportOf('gather,u8', undefined, info({ name: 'New name', driver: '2' }));
  const { devices, onlyBefore } = compareReports(reportOf('gather,u8'), renamed, 2);
  t.deepEqual(devices[0]?.drivers, ['1.5', '2']);
  t.is(devices[0]?.compared, 1);
  t.deepEqual(onlyBefore, []);
});
