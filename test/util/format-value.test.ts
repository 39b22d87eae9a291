import test from 'ava';
import { formatValue } from '../../src/util/format-value.js';

test('a value is shown as JSON where JSON can represent it', (t) => {
  t.is(formatValue('a'), '"a"');
  t.is(formatValue([1n, Number.NaN]), '["1n","NaN"]');
  t.is(formatValue(undefined), 'undefined');
  t.is(formatValue(new Float64Array(2 ** 20)), 'Float64Array of 8388608 bytes');
  t.is(
    formatValue(() => 1),
    'a function',
  );
  const circular: unknown[] = [];
  circular.push(circular);
  t.is(formatValue(circular), 'a value that cannot be shown');
});

test('a long value is truncated to its beginning', (t) => {
  t.regex(formatValue(Array.from({ length: 1e6 }, (_, i) => i)), /^\[0,1,2,.{190,}…$/);
  t.true(formatValue('x'.repeat(1e6)).length < 210);
  t.true(formatValue(2n ** 10_000n).length < 210);
});
