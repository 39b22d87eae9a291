import { Writable } from 'node:stream';
import test from 'ava';
import { ProgressBar } from '../../src/cli/progress-bar.js';

process.env.TERM = 'xterm'; // the terminal that runs the tests may be a dumb one

/** A progress bar, its lines and its clock. */
function drawnBy(isTTY: boolean, columns = 80) {
  const lines: string[] = [];
  const stderr = Object.assign(
    new Writable({
      write(chunk: Buffer, _, done) {
        lines.push(chunk.toString().replace('\r\u001b[K', ''));
        done();
      },
    }),
    { isTTY, columns },
  );
  const time = { now: 0 };
  return { lines, time, bar: new ProgressBar({ stderr }, () => time.now) };
}

test('the bar shows the share, and rate and time left once they are known', (t) => {
  const { bar, lines, time } = drawnBy(true);
  bar.update('partition', 0, 2e9);
  time.now = 10_000;
  bar.update('partition', 500e6, 2e9);
  time.now = 10_050;
  bar.update('partition', 501e6, 2e9); // too soon
  time.now = 20_000;
  bar.update('sort', 1990e6, 2e9);
  bar.clear();
  t.deepEqual(lines, [
    'partition ░░░░░░░░░░░░░░░░░░░░░░░░ 0 %',
    'partition ██████░░░░░░░░░░░░░░░░░░ 25 %, 50.0 M/s, 0:30 left',
    'sort      ████████████████████████ 100 %, 99.5 M/s, 0:01 left',
    '',
  ]);
});

test('the rate excludes resumed progress, long times show hours, and an unknown total shows no share', (t) => {
  const { bar, lines, time } = drawnBy(true);
  bar.update('sort', 9e6, 1e8);
  time.now = 2000;
  bar.update('sort', 9e6 + 2e4, 1e8);
  time.now = 4000;
  bar.update('sort', 5000, Number.NaN);
  time.now = 6000;
  bar.update('sort', 9000, Number.NaN);
  t.deepEqual(lines.slice(1), [
    'sort      ██░░░░░░░░░░░░░░░░░░░░░░ 9 %, 10.0 k/s, 2:31:38 left',
    'sort      5.00 k',
    'sort      9.00 k, 2.00 k/s',
  ]);
});

test('the bar writes nothing without a terminal', (t) => {
  const { bar, lines } = drawnBy(false);
  bar.update('sort', 1, 2);
  bar.clear();
  t.deepEqual(lines, []);
});

test('a line is cut to the terminal width, and a dumb terminal shows no bar', (t) => {
  const { bar, lines } = drawnBy(true, 20);
  bar.update('partition', 1, 2);
  t.deepEqual(lines, ['partition █████████']);
  const { TERM } = process.env;
  t.teardown(() => {
    if (TERM === undefined) delete process.env.TERM;
    else process.env.TERM = TERM;
  });
  process.env.TERM = 'dumb';
  const dumb = drawnBy(true);
  dumb.bar.update('sort', 1, 2);
  dumb.bar.clear();
  t.deepEqual(dumb.lines, []);
});
