import test from 'ava';
import { shown } from '../../src/util/shown.js';

test('a value is shown as JSON where JSON can represent it', (t) => {
  t.is(shown('a'), '"a"');
  t.is(shown([1n, Number.NaN]), '["1n","NaN"]');
  t.is(shown(undefined), 'undefined');
  t.is(
    shown(() => 1),
    'a function',
  );
  const circular: unknown[] = [];
  circular.push(circular);
  t.is(shown(circular), 'a value that cannot be shown');
});

test('a long value is truncated to its beginning', (t) => {
  t.regex(shown(Array.from({ length: 1e6 }, (_, i) => i)), /^\[0,1,2,.{190,}…$/);
  t.true(shown('x'.repeat(1e6)).length < 210);
  t.true(shown(2n ** 10_000n).length < 210);
});
