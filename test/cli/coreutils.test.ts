/** `clsort sort` beside GNU sort under LC_ALL=C: the same command lines, the same output. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { Random } from '../../src/util/random.js';
import { where } from '../where.js';

const COMMAND = join(packageRoot, 'dist/src/cli/main.js');
const isGnu =
  spawnSync('sort', ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU coreutils') === true;
const withGnu = where(isGnu, 'only with GNU coreutils', test);

const random = new Random(46n);
const below = (limit: number): number => random.below(limit);
const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `${line(i)}\n`).join('');

const WORDS = [
  'apple',
  'Apple',
  'APPLE',
  'pear',
  'Pear',
  ' fig',
  '\tplum',
  'a-b',
  'ab',
  'a b',
  '',
  'zoo',
  '~',
  '{x',
];
const NUMBERS = [
  '0',
  '-0',
  '7',
  '007',
  '+3',
  '-12',
  '3.50',
  '3.5',
  '-3.25',
  '12345678901234567890',
  '.5',
  '-',
  'x',
  '',
];
const GENERAL = [...NUMBERS, '1e3', '1E-3', 'inf', '-inf', 'nan', '0x1F', '1e', ' 4', '12abc'];
const NAMES = [
  'f1',
  'f2',
  'f10',
  'f01',
  'f10.txt',
  'f9.txt',
  'f9.tar.gz',
  'f10.tar.gz',
  '.hid',
  'a~',
  'a',
  'a.b',
  'f',
  '',
];

const FILES: Readonly<Record<string, string>> = {
  words: lines(300, () => pick(WORDS)),
  integers: lines(500, () => String(below(1000) - 500)),
  numbers: lines(300, () => pick(NUMBERS)),
  general: lines(300, () => pick(GENERAL)),
  names: lines(200, () => pick(NAMES)),
  fields: lines(400, () => `${pick(WORDS)}  ${below(20)} ${pick(NUMBERS)}\t${pick(WORDS)}`),
  table: lines(400, (i) => `${pick(WORDS)},${below(50)},${pick(GENERAL)},${i}`),
  unended: 'b\na\nc',
  empty: '',
  zeros: 'b\0a\nx\0c\0a\0',
  sorted: 'A\nB\na\nb\n',
  ascending: '1\n2\n10\n10\n',
};

/** Invocations, ours and theirs. Exit codes are compared as well. */
const INVOCATIONS = [
  '-f words',
  '-fu words',
  '-fs words',
  '-b words',
  '-d words',
  '-df words',
  '-k1,1 words',
  '-k1 words -r',
  '-n integers',
  '-rn integers',
  '-nu integers',
  '-n numbers',
  '-ns numbers',
  '-nr numbers',
  '-nu numbers',
  '-g general',
  '-gr general',
  '-gs general',
  '-g integers numbers',
  '--numeric-sort integers',
  '-V names',
  '-Vr names',
  '-k2n fields',
  '-k2,2n -k1,1 fields',
  '-k2,2nr -k1,1f fields',
  '-k1.2,1.3 fields',
  '-k3,3g -s fields',
  '-b -k2,2 fields',
  '-k2b,2 fields',
  '-k4 fields',
  '-t, -k2,2n table',
  '-t , -k2,2n -k4,4nr table',
  '-t, -k3,3g table',
  '-t, -u -k2,2n table',
  '-t, -k1.1,1.2f -k2n table',
  '-rnt, -k2 table',
  '-k1,1 unended',
  '-n empty',
  '-z -k1 zeros',
  '-c -k1 sorted',
  '-C -k1 words',
  '-C -f sorted',
  '-cn ascending',
  '-cnu ascending',
  '-m -k1 sorted unended',
  '-mn ascending ascending',
  '-mnu ascending ascending',
  '-n -S 1M integers',
  '-n --parallel=2 integers',
  '-n -T . integers',
  '-nr -- integers',
  '-n integers -o out',
  '-k1 < words',
  '-n - < integers',
];

withGnu('the options of sort(1) mean the same', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-coreutils-'));
  try {
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
    const run = (command: string, words: readonly string[], input: string | undefined) => {
      rmSync(join(folder, 'out'), { force: true });
      const { status, stdout } = spawnSync(command, words, {
        cwd: folder,
        env: { ...process.env, LC_ALL: 'C' },
        input: input === undefined ? '' : FILES[input],
      });
      const out = words.includes('out') ? readFileSync(join(folder, 'out')) : stdout;
      return { status, output: out.toString('latin1') };
    };
    const different: string[] = [];
    for (const invocation of INVOCATIONS) {
      const [words = '', input] = invocation.split(' < ');
      const expected = run('sort', words.split(' '), input);
      const got = run(process.execPath, [COMMAND, 'sort', ...words.split(' ')], input);
      if (got.status !== expected.status || got.output !== expected.output) different.push(invocation);
    }
    t.deepEqual(different, []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('--parallel limits the threads of the host engine', (t) => {
  const code = `
    process.argv.push('sort', '--parallel', process.argv[1], '--json', 'keys.u32', '-o', 'out.u32');
    process.on('exit', () => console.log('threads', process.env.CLSORT_THREADS));
    await import(${JSON.stringify(pathToFileURL(COMMAND).href)});`;
  const cwd = mkdtempSync(join(tmpdir(), 'clsort-parallel-'));
  try {
    writeFileSync(join(cwd, 'keys.u32'), Uint32Array.of(3, 1, 2));
    const threadsOf = (given: string) =>
      spawnSync(process.execPath, ['--input-type=module', '-e', code, given], { cwd, encoding: 'utf8' })
        .stdout;
    t.regex(threadsOf('3'), /threads 3$/m);
    t.regex(threadsOf('1000'), /threads 64$/m);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});

withGnu('sort -R keeps equal keys together', (t) => {
  const { stdout } = spawnSync(process.execPath, [COMMAND, 'sort', '-R'], {
    input: FILES.integers,
    encoding: 'utf8',
  });
  const got = stdout.trimEnd().split('\n');
  const expected = (FILES.integers ?? '').trimEnd().split('\n');
  t.deepEqual(got.toSorted(), expected.toSorted());
  t.notDeepEqual(got, expected);
  const runs = got.filter((line, i) => line !== got[i - 1]);
  t.is(runs.length, new Set(expected).size);
});

test('without -o the result goes to stdout: text as text, keys as bytes', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-stdout-'));
  try {
    const sort = (name: string, contents: string | Uint8Array) => {
      writeFileSync(join(folder, name), contents);
      const { stdout, stderr, status } = spawnSync(process.execPath, [COMMAND, 'sort', name], {
        cwd: folder,
      });
      t.is(status, 0, stderr.toString());
      t.is(stderr.toString(), '');
      return stdout;
    };
    t.is(sort('numbers.txt', '10\n9\n-1\n1e3\n').toString(), '-1\n9\n10\n1e3\n');
    t.is(sort('words.txt', 'pear\n10\n9\n').toString(), '10\n9\npear\n');
    t.is(sort('column.csv', '3\n1\n2\n').toString(), '1\n2\n3\n');
    const bytes = sort('keys.u32', new Uint8Array(Uint32Array.of(3, 1, 2).buffer));
    t.deepEqual([...bytes], [...new Uint8Array(Uint32Array.of(1, 2, 3).buffer)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('lines that exceed the memory are sorted in parts, and a huge line is one line', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-parts-'));
  try {
    const numbers = Array.from({ length: 40_000 }, () => random.u32());
    writeFileSync(join(folder, 'in.txt'), `${numbers.join('\n')}\n`);
    const args = [
      COMMAND,
      'sort',
      '-S',
      '100K',
      '-T',
      folder,
      join(folder, 'in.txt'),
      '-o',
      join(folder, 'out'),
    ];
    t.is(spawnSync(process.execPath, args).status, 0);
    const sorted = numbers.toSorted((a, b) => a - b);
    t.is(readFileSync(join(folder, 'out'), 'latin1'), `${sorted.join('\n')}\n`);
    t.deepEqual(readdirSync(folder).toSorted(), ['in.txt', 'out']);
    const long = 'x'.repeat(5_000_000);
    const { stdout } = spawnSync(process.execPath, [COMMAND, 'sort', '-f'], {
      input: `${long}\na\n`,
      maxBuffer: 2 ** 24,
    });
    t.is(stdout.toString('latin1'), `a\n${long}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
