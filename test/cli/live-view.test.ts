import test from 'ava';
import { LiveView } from '../../src/cli/live-view.js';

const ESCAPE = '\u001b';
const CONTROLS = new RegExp(`(${ESCAPE}\\[\\d*[AJ]|\\r|\\n)`);
const UP = new RegExp(`${ESCAPE}\\[(\\d+)A`);

/** A terminal of a few columns, and what is to be seen on it. */
function terminal(columns: number) {
  let lines = [''];
  const stderr = {
    isTTY: true,
    columns,
    write(text: string) {
      for (const part of text.split(CONTROLS)) {
        const [, up] = UP.exec(part) ?? [];
        if (up) lines = lines.slice(0, lines.length - Number(up));
        else if (part === '\u001b[J') lines[lines.length - 1] = '';
        else if (part === '\n') lines.push('');
        else if (part !== '\r') lines[lines.length - 1] += part;
      }
      return true;
    },
  };
  return { stderr: stderr as never, shown: () => lines };
}

test('lines are drawn over those before, cut to the terminal, and are gone when they are cleared', (t) => {
  let now = 0;
  const { stderr, shown } = terminal(10);
  const view = new LiveView({ stderr }, () => now);
  view.update(() => ['one', 'a line that is too long']);
  t.deepEqual(shown(), ['one', 'a line th', '']);
  view.update(() => t.fail('not so soon') as never);
  now = 200;
  view.update(() => ['two']);
  t.deepEqual(shown(), ['two', '']);
  view.clear();
  t.deepEqual(shown(), ['']);
});

test('nothing is drawn where nobody would see it', (t) => {
  const { stderr, shown } = terminal(80);
  new LiveView({ stderr, quiet: true }).update(() => ['x']);
  t.deepEqual(shown(), ['']);
});
