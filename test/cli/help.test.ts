import test from 'ava';
import { allSpecs } from '../../src/cli/commands.js';
import { helpText } from '../../src/cli/help.js';
import { clsort } from './cli.js';

const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

test('help fits the terminal up to 100 columns, and 80 columns without a terminal', async (t) => {
  const names = [undefined, ...(await allSpecs()).map(({ name }) => name)];
  for (const name of names) {
    for (const [columns, max] of [
      [undefined, 80],
      [0, 80],
      [72, 72],
      [100, 100],
      [300, 100],
    ] as const) {
      const width = widest(await helpText(name, columns));
      t.true(width <= max, `${name} in ${columns}: ${width}`);
    }
  }
  const { code, out } = await clsort(['sort', '--help']);
  t.is(code, 0);
  t.true(widest(out) <= 80);
});
