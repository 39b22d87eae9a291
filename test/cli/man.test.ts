import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ava from 'ava';
import { visibleOptions } from '../../src/cli/completion/candidates.js';
import { VARIABLES } from '../../src/cli/man.js';
import { allSpecs } from '../../src/cli/specs.js';
import { packageRoot } from '../../src/util/paths.js';
import { where } from '../where.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, remove } = scratchFolder();
ava.after.always(remove);

const has = (tool: string, ...args: string[]): boolean => spawnSync(tool, args).status === 0;

test('the man page lists every command and option in plain ASCII', async (t) => {
  const ran = await clsort(['man']);
  t.is(ran.code, 0, ran.err);
  writeFileSync(path('clsort.1'), ran.out);
  t.regex(ran.out, /^\.TH CLSORT 1 /);
  t.regex(ran.out, /^[\x20-\x7e\n]*$/);
  for (const spec of await allSpecs()) {
    t.true(ran.out.includes(`.SS \\fBclsort ${spec.command.replaceAll('-', '\\-')}\\fR`), spec.name);
    for (const { name } of visibleOptions(spec))
      t.true(ran.out.includes(`--${name}`.replaceAll('-', '\\-')), name);
  }
  t.false(ran.out.includes('\\-\\-child'));
});

test('the man page lists every environment variable that the code reads', (t) => {
  const source = join(packageRoot, 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const texts = files.map((file) => readFileSync(join(source, file), 'utf8'));
  const direct = texts.flatMap((text) =>
    [...text.matchAll(/\benv\.(CLSORT_[A-Z_]+)/g)].map(([, name]) => name),
  );
  const named = texts.flatMap((text) =>
    [...text.matchAll(/\{([^{}]*CLSORT_[^{}]*)\} = process\.env/g)].flatMap(([, names = '']) =>
      [...names.matchAll(/CLSORT_[A-Z_]+/g)].map(([name]) => name),
    ),
  );
  const read = new Set([...direct, ...named]);
  t.true(read.size > 5);
  const listed = VARIABLES.map(([name]) => name);
  for (const name of read) t.true(listed.includes(name ?? ''), name);
});

where(
  has('groff', '--version'),
  'no groff here',
  test,
)('groff formats the man page without warnings', (t) => {
  const ran = spawnSync('groff', ['-man', '-Tutf8', '-P-cbou', '-ww', path('clsort.1')], {
    encoding: 'utf8',
  });
  t.is(ran.stderr, '');
  t.regex(ran.stdout, /clsort sort in\.u32 -o out\.u32/);
  t.regex(ran.stdout, /print \{ schema, … \} as JSON/);
  t.regex(ran.stdout, /'-' for stdin/);
});

where(
  has('mandoc', '-T', 'lint', '-W', 'error', '/dev/null'),
  'no mandoc here',
  test,
)('mandoc accepts the man page without warnings', (t) => {
  const ran = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', path('clsort.1')], { encoding: 'utf8' });
  const faults = ran.stdout.split('\n').filter((line) => line && !line.includes('missing date'));
  t.deepEqual(faults, []); // the page has a version instead of a date
});
