import test from 'ava';
import { type LadderRow, ladder } from '../../src/bench/ladder.js';
import { clsort } from '../cli/cli.js';
import { forEachDevice } from '../each-device.js';

const STEPS = {
  reduce: ['interleaved', 'compacted', 'halving', 'two_loads', 'unrolled', 'grid', 'host'],
  scan: ['sweep', 'padded', 'tile', 'host'],
  histogram: ['global', 'private_items', 'private_bins', 'waves', 'host'],
};

forEachDevice((title, device) => {
  test.serial(title('the ladder measures each step and the host, and every result is right'), async (t) => {
    const seen: LadderRow[] = [];
    const rows = await ladder(await device(), { n: 5_003, rounds: 1, onRow: (row) => seen.push(row) });
    t.deepEqual(rows, seen);
    for (const [primitive, steps] of Object.entries(STEPS)) {
      const own = rows.filter((row) => row.primitive === primitive);
      t.deepEqual(
        own.map(({ step }) => step),
        steps,
      );
      t.is(own[0]?.speedup, 1);
    }
    for (const row of rows) {
      t.is(row.result, 'right', `${row.primitive} ${row.step}`);
      const { seconds, endToEndSeconds, bytesPerSecond, speedup } = row;
      t.true(seconds !== null && endToEndSeconds !== null && seconds > 0 && endToEndSeconds >= seconds);
      t.true(bytesPerSecond !== null && bytesPerSecond > 0 && speedup !== null && speedup > 0);
    }
  });
});

test('clsort bench ladder prints a table or JSON', async (t) => {
  const text = await clsort(['bench', 'ladder', '--count', '1000']);
  t.is(text.code, 0, text.err);
  t.regex(text.out, /^primitive +step +result/m);
  t.regex(text.out, /^scan +padded +right/m);
  const json = await clsort(['bench', 'ladder', '--count', '1000', '--json']);
  t.is(JSON.parse(json.out).rows.length, 16);
  t.is((await clsort(['bench', 'stairs'])).code, 2);
});
