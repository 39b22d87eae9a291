import test from 'ava';
import { measureBreakEvens } from '../../src/bench/break-even.js';
import { deviceNames, PLATFORMS } from '../each-device.js';

test('break-even sizes are measured until the time is up, sorts of 32-bit keys first', async (t) => {
  const [name = ''] = deviceNames();
  const device = PLATFORMS[name] ?? name;
  t.deepEqual(await measureBreakEvens(device, () => false), []);
  let sizes = 3;
  const found = await measureBreakEvens(device, () => sizes-- > 0);
  t.is(sizes, -1, 'the time was up');
  for (const { operation, keyBits, keys } of found) {
    t.is(operation, 'sort');
    t.is(keyBits, 32);
    t.true(keys === 2 ** 10 || keys === 2 ** 12);
  }
});
