import test from 'ava';
import { pingPong } from '../../src/algorithms/algorithm.js';

const names = (passes: number, input: string, output: string) => {
  const { copyFirst, steps } = pingPong(passes, { input, output, alternate: 'alt' });
  return `${copyFirst ? 'copy ' : ''}${steps.map(({ from, to }) => `${from}>${to}`).join(' ')}`;
};

test('the last pass writes the output and the input is only read', (t) => {
  t.is(names(1, 'in', 'out'), 'in>out');
  t.is(names(2, 'in', 'out'), 'in>alt alt>out');
  t.is(names(3, 'in', 'out'), 'in>out out>alt alt>out');
  t.is(names(4, 'in', 'out'), 'in>alt alt>out out>alt alt>out');
});

test('in place an odd number of passes starts from a copy', (t) => {
  t.is(names(2, 'x', 'x'), 'x>alt alt>x');
  t.is(names(3, 'x', 'x'), 'copy alt>x x>alt alt>x');
});
