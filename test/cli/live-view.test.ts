import test from 'ava';
import { Tally } from '../../src/batch/tally.js';
import { failureText, resultText, viewLines } from '../../src/cli/batch-text.js';
import { say } from '../../src/cli/console.js';
import { LiveView } from '../../src/cli/live-view.js';

process.env.TERM = 'xterm'; // the terminal that runs the tests may be a dumb one

const ESCAPE = '\u001b';
const CONTROLS = new RegExp(`(${ESCAPE}\\[(?:\\d*[AJ]|\\?7[lh])|\\r|\\n)`);
const UP = new RegExp(`${ESCAPE}\\[(\\d+)A`);

/** Letters that take two columns. */
const isWide = (letter: string): boolean => /\p{Script=Han}|\p{Emoji_Presentation}/u.test(letter);

/** A terminal with `columns` columns, and its visible lines. */
function terminal(columns: number) {
  let lines = [''];
  let wraps = true;
  const put = (letter: string): void => {
    const line = `${lines.at(-1)}${letter}`;
    const width = [...line].reduce((sum, one) => sum + (isWide(one) ? 2 : 1), 0);
    if (width <= columns) lines[lines.length - 1] = line;
    else if (wraps) lines.push(letter);
  };
  const stderr = {
    isTTY: true,
    columns,
    write(text: string) {
      for (const part of text.split(CONTROLS)) {
        const [, up] = UP.exec(part) ?? [];
        if (up) lines = lines.slice(0, lines.length - Number(up));
        else if (part === '\u001b[J') lines[lines.length - 1] = '';
        else if (part === '\n') lines.push('');
        else if (part === '\u001b[?7l' || part === '\u001b[?7h') wraps = part.endsWith('h');
        else if (part !== '\r') for (const letter of part) put(letter);
      }
      return true;
    },
  };
  return { stderr: stderr as never, shown: () => lines, wraps: () => wraps };
}

test('lines replace the previous lines, are cut to the terminal width, and disappear on clear', (t) => {
  let now = 0;
  const { stderr, shown: output } = terminal(10);
  const view = new LiveView({ stderr }, () => now);
  view.update(() => ['one', 'a line that is too long']);
  t.deepEqual(output(), ['one', 'a line th', '']);
  view.update(() => t.fail('not so soon') as never);
  now = 200;
  view.update(() => ['two']);
  t.deepEqual(output(), ['two', '']);
  view.clear();
  t.deepEqual(output(), ['']);
});

test('wide characters and control characters in names add no line', (t) => {
  const tally = new Tally(() => 1000);
  const names = [
    '日本語日本語日本語日本語.u32',
    'new\nline.u32',
    '\u001b[31mred\u0007.u32',
    '😀😀😀😀😀😀😀😀😀😀😀.u32',
  ];
  for (const name of names)
    tally.handle({ is: 'begin', device: name.slice(0, 1), job: { name, in: name, out: 'x' } });
  for (const columns of [20, 40, 200]) {
    let now = 0;
    const { stderr, shown: output, wraps } = terminal(columns);
    const view = new LiveView({ stderr }, () => now);
    view.update(() => viewLines(tally, 4));
    t.is(output().length, 1 + tally.devices.size + 1, `${columns} columns`);
    now = 200;
    view.update(() => ['two']);
    t.deepEqual(output(), ['two', '']);
    t.true(wraps(), 'line wrapping is restored');
  }
});

test('messages escape control characters in file names', (t) => {
  const job = { name: 'a\nb\u001b[2J\u202e.u32', in: 'a', out: 'b' };
  const said: string[] = [];
  const failed = { job, outcome: 'error', error: new Error('no\u009b'), seconds: 0, attempts: 1 } as const;
  say({ stderr: { write: (text: string) => said.push(text) } } as never, `cannot read ${job.name}`);
  t.is(failureText(failed), 'FAILED   a\\nb\\u001b[2J\\u202e.u32: no\\u009b');
  t.is(resultText({ job, outcome: 'skipped' }), 'skipped  a\\nb\\u001b[2J\\u202e.u32');
  t.deepEqual(said, ['cannot read a\nb\\u001b[2J\\u202e.u32\n']);
});

test('a quiet view draws nothing', (t) => {
  const { stderr, shown: output } = terminal(80);
  new LiveView({ stderr, quiet: true }).update(() => ['x']);
  t.deepEqual(output(), ['']);
});
