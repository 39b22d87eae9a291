/** The linter for English reads docstrings and help texts at their lines, and reports what no exception covers. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { where } from '../where.js';

interface Message {
  readonly line: number;
  readonly message: string;
}
interface Words {
  readonly words: readonly string[];
  readonly reason: string;
}
interface Exception {
  readonly file: string;
  readonly text: string;
  readonly reason: string;
}
interface English {
  englishFiles(): string[];
  markdownOf(file: string, text: string): string;
  problemsIn(
    file: string,
    text: string,
    messages: readonly Message[],
    used?: Set<Words | Exception>,
    allowed?: readonly Words[],
    exceptions?: readonly Exception[],
  ): Message[];
  createEnglishLinter(): Promise<(text: string) => Promise<Message[]>>;
}

const script = (name: string) => import(pathToFileURL(join(packageRoot, 'scripts', name)).href);
const { englishFiles, markdownOf, problemsIn, createEnglishLinter } = (await script(
  'docs/check-prose.mjs',
)) as English;

test('docstrings and help texts become Markdown at their lines', (t) => {
  const module = [
    "const a = 'some code'; // a comment",
    '/** One line. */',
    'export function f() {',
    '  /**',
    '   * Two lines',
    '   * of text.',
    '   *',
    '   * @param queue queue of the device',
    '   */',
    '}',
  ].join('\n');
  t.deepEqual(markdownOf('src/x.ts', module).split('\n'), [
    ...['', 'One line.', '', '', 'Two lines', 'of text.', '', '`queue`: queue of the device', '', ''],
  ]);
  const options = "describe: 'a text',\nname: 'word',\nexample('$0 sort a', 'sort it')";
  t.deepEqual(markdownOf('src/cli/options/x.ts', options).split('\n'), ['a text  ', '', 'sort it  ']);
  t.is(markdownOf('docs/x.md', 'As it is.'), 'As it is.');
});

test('allowed words and exceptions cover messages, others are reported', (t) => {
  const messages = [
    { line: 1, message: '"all\nof" is wordy or unneeded' },
    { line: 1, message: 'Incorrect term: “id”, use “ID” instead' },
    { line: 2, message: 'Incorrect term: “id”, use “ID” instead' },
  ];
  const allowed = [
    { words: ['all of'], reason: 'x' },
    { words: ['none of'], reason: 'x' },
  ];
  const exceptions = [{ file: 'docs/x.md', text: 'the id', reason: 'x' }];
  const used = new Set<Words | Exception>();
  const lines = 'all of the id\nan id';
  t.deepEqual(problemsIn('docs/x.md', lines, messages, used, allowed, exceptions), messages.slice(2));
  t.deepEqual([...used], [allowed[0], exceptions[0]]);
  t.is(problemsIn('docs/y.md', lines, messages, used, allowed, exceptions).length, 2, 'of another file');
});

test('each exception has a reason, and its file has the text', async (t) => {
  const { ALLOWED, EXCEPTIONS } = (await script('prose/english.mjs')) as {
    ALLOWED: readonly Words[];
    EXCEPTIONS: readonly Exception[];
  };
  for (const { words, reason } of ALLOWED) {
    t.true(reason.length > 0);
    for (const word of words) t.is(word, word.toLowerCase());
  }
  for (const { file, text, reason } of EXCEPTIONS) {
    t.true(reason.length > 0);
    t.true(readFileSync(join(packageRoot, file), 'utf8').includes(text), file);
  }
});

test('pages, docstrings and help texts are checked, generated pages are not', (t) => {
  const files = englishFiles();
  for (const file of [
    'README.md',
    'CONTRIBUTING.md',
    'docs/files.md',
    'src/index.ts',
    'src/cli/options/sort.ts',
  ])
    t.true(files.includes(file), file);
  t.deepEqual(
    files.filter((file) => /^docs\/(?:api|reference)\/|^test\//.test(file)),
    [],
  );
});

// The packages of docs/ are installed by `node scripts/docs.mjs`, whose check reports a linter that finds nothing.
where(existsSync(join(packageRoot, 'docs/node_modules/textlint')), 'the packages of docs/ are not installed')(
  'the linter reports wordy phrases, repeated words and wrong names, and no code',
  async (t) => {
    const lint = await createEnglishLinter();
    t.deepEqual(
      (await lint('Text in the the file.\n\nThey utilize it with Javascript.\n')).map(({ line }) => line),
      [1, 3, 3],
    );
    t.deepEqual(await lint('Code: `utilize the the Javascript`.\n\n```js\nutilize();\n```\n'), []);
  },
);
