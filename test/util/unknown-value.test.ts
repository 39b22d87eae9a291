import test from 'ava';
import { UsageError } from '../../src/util/errors.js';
import { adviceFor, didYouMean, unknownValue } from '../../src/util/unknown-value.js';

test('an unknown value is an error that lists the known ones and the nearest', (t) => {
  const error = unknownValue('--mode', 'kesy', ['keys', 'pairs']);
  t.true(error instanceof UsageError);
  t.is(error.message, 'expected one of keys, pairs for --mode but got "kesy". Did you mean "keys"?');
  t.deepEqual(error.details, { option: '--mode', got: 'kesy' });
});

test('without a similar known word there is no advice', (t) => {
  t.is(unknownValue('--mode', 'x', ['keys']).message, 'expected one of keys for --mode but got "x"');
  t.is(didYouMean('x', ['keys']), undefined);
  t.deepEqual(adviceFor('x', ['keys']), {});
});
