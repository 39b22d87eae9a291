import test from 'ava';
import { divideWork, Rates } from '../../../src/sort/multi-device/rates.js';

/** Devices of equal speed. */
const speeds = ['a', 'b', 'c', 'd'].map((name) => {
  const rates = new Rates();
  rates.observe(2 ** 20, 1);
  return { worker: { info: { name } }, rates, slowdown: 1 };
});
const chosen = (options: Parameters<typeof divideWork>[2]): number =>
  divideWork(speeds, 2 ** 20, options).workers.length;

test('as many devices as are fastest share work, up to the limit or as many as requested', (t) => {
  t.is(chosen({}), 4);
  t.is(chosen({ maxDevices: 2 }), 2);
  t.is(chosen({ maxDevices: 2, deviceCount: 3 }), 3);
  t.is(chosen({ maxDevices: 2, splitSeconds: 1 }), 1);
});
