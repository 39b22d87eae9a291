import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import ava from 'ava';
import type { Console } from '../../src/cli/console.js';
import { parseArguments } from '../../src/cli/parse.js';
import { ProgressBar } from '../../src/cli/progress-bar.js';
import { allSpecs, COMMAND_NAMES, specNamed } from '../../src/cli/specs.js';
import { UsageError } from '../../src/util/errors.js';
import { packageRoot } from '../../src/util/paths.js';
import { where } from '../where.js';
import { clsort, MAIN, scratchFolder } from './cli.js';

const test = ava.serial; // some start processes
const { path, remove } = scratchFolder();
ava.after.always(remove);
writeFileSync(path('in.u32'), Uint32Array.of(3, 1, 2));
const sort = ['sort', path('in.u32'), '-o', path('out.u32'), '--dtype', 'u32'];

/** The long name of each short option in every command; some are reserved. */
const SHORT: Readonly<Record<string, string>> = {
  ...{ o: 'out', q: 'quiet', r: 'descending', u: 'unique' },
  ...{ S: 'memory', T: 'tmp', t: 'delimiter' },
  // Of sort(1), for lines.
  ...{ n: 'numeric-sort', g: 'general-numeric-sort', V: 'version-sort', R: 'random-sort', f: 'ignore-case' },
  ...{ d: 'dictionary-order', b: 'ignore-leading-blanks', k: 'line-key', s: 'stable', z: 'zero-terminated' },
  ...{ c: 'check', C: 'check-quiet', m: 'merge' },
};

test('every command has a file in commands/ that exports run, and no other file is there', async (t) => {
  const files = readdirSync(join(packageRoot, 'src/cli/commands')).map((file) => file.replace('.ts', ''));
  t.deepEqual(files.toSorted(), [...COMMAND_NAMES].toSorted());
  for (const name of files) {
    t.is(typeof (await import(`../../src/cli/commands/${name}.js`)).run, 'function', name);
  }
});

test('a short option means the same in every command', async (t) => {
  for (const { name: command, options } of await allSpecs()) {
    for (const { name, alias } of options) {
      if (alias !== undefined) t.is(SHORT[alias], name, `${command} -${alias}`);
      if (Object.values(SHORT).includes(name)) t.truthy(alias, `${command} --${name}`);
    }
  }
});

test('the help of every command describes its options and has an example', async (t) => {
  for (const { name, examples, options, arguments: operands } of await allSpecs()) {
    t.true(examples.length > 0, name);
    for (const [line] of examples) t.true(line.includes(`$0 ${name}`), line);
    for (const one of [...options, ...operands]) {
      if (!one.hidden) t.not(one.describe, '', `${name} ${one.name}`);
    }
  }
});

test('options are parsed by their types', async (t) => {
  const spec = await specNamed('sort');
  const words = ['-', '-ro', '-', '--dtype', 'u32', '--radix-bits=4', '--nan', 'first', '-q'];
  const args = parseArguments(spec, words, { nan: 'last', device: 'host' });
  t.like(args, {
    in: ['-'],
    out: '-',
    descending: true,
    dtype: 'u32',
    'radix-bits': 4,
    nan: 'first',
    quiet: true,
  });
  t.like(args, { device: ['host'], algorithm: 'auto', verify: false, bits: undefined });
  t.deepEqual(parseArguments(spec, ['--dtype', 'u8', '-o', 'x', '--', '-odd name']).in, ['-odd name']);
  t.is(
    parseArguments(spec, ['', '--dtype', 'u8', '--dtype', 'f64', '-o', 'x']).dtype,
    'f64',
    'the last value counts',
  );
  const keys = parseArguments(await specNamed('explain'), ['7', '-3', '--', '-inf', '-0', '1e400']).keys;
  t.deepEqual(keys, ['7', '-3', '-inf', '-0', '1e400']);
  const matrix = parseArguments(await specNamed('matrix'), [
    '--dtype',
    'u8',
    'f64',
    '--quick',
    '--timeout',
    '1.5',
  ]);
  t.like(matrix, { dtype: ['u8', 'f64'], quick: true, timeout: 1.5 });
});

for (const [line, message] of [
  ['srot in.u32', /expected a command for clsort but got "srot"\. Did you mean "sort"\?/],
  ['srot --help', /expected a command for clsort but got "srot"\. Did you mean "sort"\?/],
  ['', /cannot run clsort: the command is missing/],
  ['--verison', /known option for clsort but got "--verison"\. Did you mean "--version"/],
  ['--quiet', /cannot run clsort: the command is missing/],
  ['help srot', /expected a command for clsort but got "srot"\. Did you mean "sort"\?/],
  ['sort a -o b --dtype double', /for dtype but got "double"\. Did you mean "f64"/],
  [
    'sort a -o b --dtype u32 --reverse',
    /expected a known option for clsort sort but got "--reverse"\. Did you mean "--descending"/,
  ],
  ['sort a -o b --dtype u32 --colour', /expected a known option for clsort sort but got "--colour"\n/],
  ['histogram a --dtype u32 --bins ten', /expected a number for --bins but got "ten"/],
  ['sort a -o b --dtype u32 --head abc', /expected a number for --head but got "abc"/],
  ['tune --time abc', /expected a number for --time but got "abc"/],
  ['sort a --parallel=0', /expected a whole number of 1 or more for --parallel but got 0/],
  ['batch a --parallel=2x', /expected a number for --parallel but got "2x"/],
  [
    'sort a -o b --dtype u32 --devcie cpu',
    /expected a known option for clsort sort but got "--devcie"\. Did you mean "--device"/,
  ],
  ['sort a -o b --dtype u32 --no-verfy', /for clsort sort but got "--no-verfy"/],
  [
    'sort a -o b --dtype u32 --hlep',
    /expected a known option for clsort sort but got "--hlep"\. Did you mean "--help"/,
  ],
  [
    'sort a -o b --dtype u32 --devcie=cpu',
    /expected a known option for clsort sort but got "--devcie"\. Did you mean "--device"/,
  ],
  ['sort a -o b --dtype u32 -y', /for clsort sort but got "-y"/],
  ['sort a -o b --dtype u32 -z', /cannot combine --dtype and --zero-terminated: .*lines/],
  ['sort a -n -g', /cannot compare lines by -n and -g: /],
  ['sort a -k 0', /expected a key such as 2,2n or 1\.3,1\.5 for -k but got "0"/],
  [
    'sort a -o b --dtype u32 --nan frist',
    /expected one of first, last for --nan but got "frist"\. Did you mean "first"/,
  ],
  ['sort a -o b --dtype u32 --scan 4', /expected one of 3, 5, auto for --scan but got "4"/],
  ['sort a -o b --dtype u23', /for dtype but got "u23"\. Did you mean "u/],
  ['sort a -o b --dtype u32 --algorithm tild', /for algorithm but got "tild"\. Did you mean "tiled"/],
  ['sort a -o b --dtype u32 --format rwa', /for format but got "rwa"\. Did you mean "raw"/],
  ['sort a -o b --dtype u32 --device cup', /cannot find OpenCL device 'cup'.*Did you mean "cpu"/],
  ['sort - -o b', /the dtype of its keys is unknown\. Pass --dtype/],
  ['check --dtype u32', /cannot run clsort check: <file> is missing/],
  ['check a b --dtype u32', /expected at most one argument for clsort check but got \[".*","b"\]/],
  ['sort a --dtype u32 -o', /expected a value for -o but got none/],
  ['sort a -o b --dtype u32 --verify=perhaps', /expected true or false for --verify but got "perhaps"/],
  [
    'gen --dtype u32 --count 9 --distribution unifrom -o x',
    /for distribution but got "unifrom"\. Did you mean "uniform"/,
  ],
  [
    'bench sort',
    /expected one of calls, first, ladder, sorts for <what> but got "sort"\. Did you mean "sorts"/,
  ],
  ['explain 3 1 --algorithm split2', /for --algorithm but got "split2"\. Did you mean "split"/],
  ['matrix --algorithm amdd', /for --algorithm but got "amdd"\. Did you mean "amd"/],
  ['tune --algorithm tiledd', /for --algorithm but got "tiledd"\. Did you mean "tiled"/],
  ['completion zhs', /Did you mean "zsh"/],
] as const) {
  test(`clsort ${line} is an error that names the mistake`, async (t) => {
    const ran = await clsort(
      line
        .split(' ')
        .filter(Boolean)
        .map((word) => (word === 'a' ? path('in.u32') : word)),
    );
    t.true(ran.code === 2 || (ran.code === 3 && line.includes('--device cup')), ran.err);
    t.regex(ran.err, message);
    t.is(ran.out, '');
  });
}

test('every number is quoted as it was typed', async (t) => {
  for (const name of COMMAND_NAMES) {
    const spec = await specNamed(name);
    for (const option of spec.options.filter(({ type }) => type === 'number')) {
      for (const typed of ['ten', '1O', 'NaN', '']) {
        const expected = {
          instanceOf: UsageError,
          message: `expected a number for ${option.name.length > 1 ? '--' : '-'}${option.name} but got "${typed}"`,
        };
        t.throws(() => parseArguments(spec, [`--${option.name}=${typed}`]), expected, name);
      }
      const required = spec.arguments
        .filter((one) => one.required)
        .map(({ choices }) => choices?.[0] ?? 'word');
      const read = () => parseArguments(spec, [...required, `--${option.name}=-1.5e3`])[option.name];
      if (!spec.options.some((one) => one.required)) t.is(read(), -1500, name);
    }
  }
});

test('a usage error ends with the help of its own command', async (t) => {
  for (const [line, help] of [
    ['sort --devcie cpu', "See 'clsort sort --help'."],
    ['topk', "See 'clsort topk --help'."],
    ['srot', "See 'clsort --help'."],
    ['--verison', "See 'clsort --help'."],
  ] as const) {
    const { code, err } = await clsort(line.split(' '));
    t.is(code, 2);
    t.true(err.trimEnd().endsWith(help), err);
  }
});

test('clsort help COMMAND is clsort COMMAND --help', async (t) => {
  for (const [help, same] of [
    [['help'], ['--help']],
    [
      ['help', 'sort'],
      ['sort', '--help'],
    ],
  ] as const) {
    const ran = await clsort(help);
    t.is(ran.code, 0, ran.err);
    t.is(ran.out, (await clsort(same)).out);
  }
});

test('every option of every command is suggested where one letter is missing', async (t) => {
  for (const name of COMMAND_NAMES) {
    const spec = await specNamed(name);
    for (const option of spec.options.filter((one) => !one.hidden && one.name.length > 4)) {
      const word = `--${option.name.slice(0, 2)}${option.name.slice(3)}`;
      const error = t.throws(() => parseArguments(spec, [word]), { instanceOf: UsageError });
      t.true(
        error?.message.includes(`Did you mean "--${option.name}"`),
        `${name} ${word}: ${error?.message}`,
      );
    }
  }
});

test('without a terminal, a sort prints only the requested output', async (t) => {
  const stderrOf = async (...more: string[]) => {
    const ran = await clsort([...sort, '--device', 'host', ...more]);
    t.is(ran.code, 0, ran.err);
    t.is(ran.err, '');
    return ran.out;
  };
  t.is(await stderrOf(), '');
  t.is(await stderrOf('--verify'), 'verified: order right, permutation right\n');
  t.is(await stderrOf('--verify', '--quiet'), 'verified: order right, permutation right\n');
  t.is(JSON.parse(await stderrOf('--json', '-q')).n, 3);
  t.regex(await stderrOf('--report'), /^sorted 3 u32 keys[\s\S]*^stage +launches/m);
});

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

where(
  hasScript,
  'no script(1) here',
  test,
)('on a terminal, a sort prints a report unless --quiet is given, and no output is coloured', (t) => {
  const onTerminal = (...args: string[]): string => {
    const line = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ');
    const { TERM: _, ...rest } = process.env;
    const env = { ...rest, TERM: 'xterm-256color', FORCE_COLOR: '1', XDG_CONFIG_HOME: path('none') };
    return spawnSync('script', ['-qec', line, '/dev/null'], { env, encoding: 'utf8' }).stdout;
  };
  t.regex(onTerminal(...sort, '--device', 'host'), /sorted 3 u32 keys[\s\S]*stage +launches/);
  t.is(onTerminal(...sort, '--device', 'host', '--quiet'), '');
  for (const args of [[...sort, '--report'], ['--help'], ['devices'], ['srot']]) {
    // The bar clears its line with K; colour sequences end with m.
    const sequences = onTerminal(...args)
      .split('\u001b[')
      .slice(1);
    t.deepEqual(
      sequences.filter((one) => !one.startsWith('K')),
      [],
      args.join(' '),
    );
  }
});

test('the progress bar appears only on a terminal and without --quiet', (t) => {
  const terminalOutput = (more: Partial<Console>, isTTY: boolean): string => {
    let text = '';
    const write = (chunk: unknown, _: unknown, done: () => void) => {
      text += String(chunk);
      done();
    };
    const stderr = Object.assign(new Writable({ write }), { isTTY });
    const bar = new ProgressBar({ stderr, ...more } as Console);
    bar.update('sort', 1, 2);
    bar.clear();
    return text;
  };
  t.regex(terminalOutput({}, true), /sort .* 50 %/);
  t.is(terminalOutput({ quiet: true }, true), '');
  t.is(terminalOutput({}, false), '');
});
