import test from 'ava';
import { powerAtLeast, powerAtMost, powerBelow } from '../../src/util/powers.js';

test('powerAtMost, powerAtLeast and powerBelow return the neighbouring powers of two', (t) => {
  for (let bits = 1; bits < 53; bits++) {
    const power = 2 ** bits;
    t.deepEqual([powerAtMost(power), powerAtLeast(power), powerBelow(power)], [power, power, power / 2]);
    if (bits === 1) continue;
    const [above, below] = [power * 1.25, power * 0.75];
    t.deepEqual([powerAtMost(above), powerAtLeast(above), powerBelow(above)], [power, 2 * power, power]);
    t.deepEqual([powerAtMost(below), powerAtLeast(below), powerBelow(below)], [power / 2, power, power / 2]);
  }
  t.deepEqual([powerAtMost(1), powerAtLeast(1)], [1, 1]);
});
