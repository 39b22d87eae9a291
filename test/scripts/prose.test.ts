import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

interface Finding {
  readonly line: number;
  readonly words: string;
}
interface Exception {
  readonly file: string;
  readonly text: string;
}
interface Prose {
  proseFiles(): string[];
  findingsIn(
    file: string,
    text: string,
    used?: Set<Exception>,
    banned?: readonly { pattern: string; instead: string }[],
    exceptions?: readonly Exception[],
  ): Finding[];
}

const load = (): Promise<Prose> => import(pathToFileURL(join(packageRoot, 'scripts/prose.mjs')).href);
const found = (findings: readonly Finding[]) => findings.map(({ line, words }) => [line, words]);

test('banned constructions are found in pages, comments and texts of the command', async (t) => {
  const { findingsIn } = await load();
  t.deepEqual(found(findingsIn('docs/x.md', 'One line.\nThe caller is told\nWho asks, Whoever')), [
    [2, 'is told'],
    [2, 'told'],
    [3, 'Whoever'],
    [3, 'Who asks'],
  ]);
  t.deepEqual(found(findingsIn('src/x.ts', "const a = 'it tells';\n/** It tells. */\nb(); // at last\n")), [
    [2, 'tells'],
    [3, 'at last'],
  ]);
  t.deepEqual(found(findingsIn('src/x.cc', '/* one\n   of the lookout */')), [[2, 'lookout']]);
  t.deepEqual(found(findingsIn('src/cli/options/x.ts', "describe: 'it tells all',")), [[1, 'tells']]);
});

test('the constructions of the style guide are banned, and what it recommends is not', async (t) => {
  const { findingsIn } = await load();
  for (const text of [
    'The queue holds that each event is complete.',
    'The limiter lets it by.',
    'It closes of its own accord.',
    'The search comes to nothing.',
    'The merge goes on with the next run.',
    'The device is asked, too.',
    'A list of what is not there.',
    'The host sorts what is too little.',
    'In the end they do without.',
  ]) {
    t.is(findingsIn('docs/x.md', text).length, 1, text);
  }
  for (const text of [
    'Arrays below the break-even size are sorted on the host.',
    'It runs non-interactively and is idempotent.',
    'The keys are too large, and one round trip to the device is enough.',
    'Returns the bytes in use, pooled, and at peak.',
  ]) {
    t.deepEqual(findingsIn('docs/x.md', text), [], text);
  }
});

test('code is not read as prose', async (t) => {
  const { findingsIn } = await load();
  const page = 'A `told` word, [a link](told.md) and\n```js\ntold();\n```\nthe end.';
  t.deepEqual(findingsIn('docs/x.md', page), []);
  t.deepEqual(findingsIn('src/x.ts', 'told("tells") + `tells // told`; // `told` is code\n'), []);
  t.deepEqual(findingsIn('src/cli/options/x.ts', "option('tells')"), [], 'one word is a name');
  t.deepEqual(findingsIn('src/x.ts', '// toldwords and pre-told'), [], 'a part of a word');
  t.deepEqual(findingsIn('data/x.json', 'told'), []);
});

test('an exception allows a line of its file or folder, and one that matches nothing is reported', async (t) => {
  const { findingsIn } = await load();
  const banned = [{ pattern: 'tells', instead: 'prints' }];
  const exceptions = [
    { file: 'docs/', text: 'as it tells', reason: 'x' },
    { file: 'docs/y.md', text: 'never', reason: 'x' },
  ];
  const used = new Set<Exception>();
  t.deepEqual(found(findingsIn('docs/x.md', 'All as it tells.\nIt tells.', used, banned, exceptions)), [
    [2, 'tells'],
  ]);
  t.deepEqual([...used], exceptions.slice(0, 1));
});

test('each exception has a file, a text and a reason', async (t) => {
  const { BANNED, EXCEPTIONS } = await import(
    pathToFileURL(join(packageRoot, 'scripts/prose/banned.mjs')).href
  );
  for (const { pattern, instead } of BANNED) {
    t.notThrows(() => new RegExp(pattern));
    t.true(instead.length > 0);
  }
  for (const { file, text, reason } of EXCEPTIONS) {
    t.true(text.length > 0 && reason.length > 0);
    if (!file.endsWith('/')) t.true(readFileSync(join(packageRoot, file), 'utf8').includes(text), file);
  }
});

test('the prose of all pages and sources is checked', async (t) => {
  const files = (await load()).proseFiles();
  for (const file of ['README.md', 'src/index.ts', 'src/native/call.cc', 'cl/onesweep.cl', 'docs/files.md'])
    t.true(files.includes(file), file);
  t.false(files.some((file) => file.startsWith('docs/reference/')));
});
