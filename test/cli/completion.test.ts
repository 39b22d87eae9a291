import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import ava from 'ava';
import { ALGORITHMS } from '../../src/algorithms/registry.js';
import { COMMAND_NAMES } from '../../src/cli/specs.js';
import { DTYPES } from '../../src/keys/dtype.js';
import { where } from '../where.js';
import { clsort, scratchFolder } from './cli.js';

const test = ava.serial; // each starts processes
const { path, folder, remove } = scratchFolder();
ava.after.always(remove);

const has = (shell: string): boolean => spawnSync(shell, ['-c', ':']).status === 0;
/** A test where the shell is installed. */
const on = (shell: string) => where(has(shell), `no ${shell} here`, test);

ava.before(async (t) => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const ran = await clsort(['completion', shell]);
    t.is(ran.code, 0, ran.err);
    t.is(ran.err, '');
    writeFileSync(path(shell), ran.out);
  }
  writeFileSync(path('a file.u32'), '');
});

/** Completions by bash for the last word. */
function bash(...words: string[]): string[] {
  const line = ['clsort', ...words];
  const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _clsort
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const ran = spawnSync('bash', ['-c', script, 'bash', path('bash'), ...line], { encoding: 'utf8' });
  if (ran.status !== 0 || ran.stderr !== '') throw new Error(`bash: ${ran.stderr}`);
  return ran.stdout.split('\n').filter(Boolean);
}

on('bash')('bash completes commands, options, choices, algorithms and dtypes', (t) => {
  t.deepEqual(
    bash('').filter((word) => !word.startsWith('-')),
    [...COMMAND_NAMES],
  );
  t.deepEqual(bash('so'), ['sort']);
  t.deepEqual(bash('--v'), ['--version']);
  t.deepEqual(bash('sort', '--de'), ['--descending', '--delimiter', '--decimal', '--device']);
  t.deepEqual(bash('sort', 'in.u32', '--nan', ''), ['first', 'last']);
  t.deepEqual(bash('sort', '--nan', '=', 'f'), ['first']);
  t.deepEqual(bash('sort', '--nan', '='), ['first', 'last']);
  t.deepEqual(bash('sort', '--dtype', ''), [...DTYPES]);
  t.deepEqual(bash('sort', '--algorithm', ''), ['auto', ...ALGORITHMS.map(({ name }) => name)]);
  t.deepEqual(bash('sort', '--to', 'n'), ['npy', 'ndjson']);
  t.deepEqual(bash('explain', '--algorithm', 'b'), ['bitonic']);
  t.deepEqual(bash('bench', ''), ['calls', 'first', 'ladder', 'sorts']);
  t.deepEqual(bash('completion', ''), ['bash', 'zsh', 'fish']);
  t.deepEqual(bash('devices', ''), []);
  t.deepEqual(bash('nonesuch', ''), []);
  t.true(bash('matrix', '-').includes('--quick'));
  t.false(bash('matrix', '-').includes('--child'), 'hidden options stay hidden');
});

on('bash')('bash completes file names itself', (t) => {
  t.deepEqual(bash('sort', ''), []);
  t.deepEqual(bash('sort', '-o', ''), []);
  const registered = spawnSync('bash', ['-c', 'source "$1"; complete -p clsort', 'bash', path('bash')]);
  t.is(registered.stdout.toString().trim(), 'complete -o default -F _clsort clsort');
});

/** Completions by fish for the last word of a line. */
function fish(line: string): string[] {
  const ran = spawnSync(
    'fish',
    ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', path('fish'), line],
    {
      encoding: 'utf8',
      cwd: folder,
      env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    },
  );
  if (ran.status !== 0) throw new Error(`fish: ${ran.stderr}`);
  return ran.stdout
    .split('\n')
    .filter(Boolean)
    .map((one) => one.split('\t')[0] ?? '');
}

on('fish')('fish completes commands, options, choices, and files only for file arguments', (t) => {
  t.deepEqual(fish('clsort ').toSorted(), [...COMMAND_NAMES].toSorted());
  t.deepEqual(fish('clsort sort --de'), ['--decimal', '--delimiter', '--descending', '--device']);
  t.deepEqual(fish('clsort sort --nan '), ['first', 'last']);
  t.deepEqual(fish('clsort sort --dtype ').toSorted(), [...DTYPES].toSorted());
  t.deepEqual(fish('clsort explain --algorithm b'), ['bitonic']);
  t.deepEqual(fish('clsort bench ').toSorted(), ['calls', 'first', 'ladder', 'sorts']);
  t.true(fish('clsort sort a').includes('a file.u32'));
  t.true(fish('clsort sort -o a').includes('a file.u32'));
  t.deepEqual(fish('clsort devices a'), []);
});

/** The output of zsh after a line and Tab, in a pseudo-terminal, since zsh completes nowhere else. */
function zsh(line: string, expected: string): string {
  const script = `
    zmodload zsh/zpty; zpty z zsh -f -i
    zpty -w z "PS1=; autoload -Uz compinit; compinit -u -D; cd \${(q)2}; source \${(q)1}; zstyle ':completion:*' list-prompt ''; LISTMAX=1000; stty cols 200; print ready"
    typeset -F seconds=0; typeset out='' part=''
    until_seen() { out=''; for i in {1..200}; do zpty -rt z part && out+=$part || sleep 0.05; [[ $out == *$~1* ]] && return; done }
    until_seen 'ready'$'\\r'
    zpty -w -n z "$3"$'\\t'
    for i in {1..200}; do sleep 0.05; while zpty -rt z part; do out+=$part; done; [[ $out == *$4* ]] && break; done
    print -r -- $out; zpty -d z`;
  const ran = spawnSync('zsh', ['-f', '-c', script, 'zsh', path('zsh'), folder, line, expected], {
    encoding: 'utf8',
    timeout: 30_000,
    env: { ...process.env, TERM: 'dumb' },
  });
  if (ran.status !== 0) throw new Error(`zsh: ${ran.stderr}`);
  return ran.stdout;
}

on('zsh')('zsh completes commands, options, choices and files', (t) => {
  for (const [line, expected] of [
    ['clsort so', 'clsort sort '],
    ['clsort sort --desc', '--descending '],
    ['clsort sort --nan f', '--nan first '],
    ['clsort explain --algorithm bit', 'bitonic '],
    ['clsort sort a', 'a\\ file.u32 '],
    ['clsort sort --dtype ', 'f64'],
  ] as const) {
    t.true(zsh(line, expected).includes(expected), line);
  }
});

test('an unsupported shell is a usage error', async (t) => {
  const ran = await clsort(['completion', 'fishy']);
  t.is(ran.code, 2);
  t.regex(ran.err, /Did you mean "fish"/);
});
