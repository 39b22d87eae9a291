import test from 'ava';
import { UsageError } from '../../src/util/errors.js';
import { assertWholeNumber } from '../../src/util/whole-number.js';

const messageOf = (...args: Parameters<typeof assertWholeNumber>): string | undefined => {
  try {
    assertWholeNumber(...args);
    return undefined;
  } catch (error) {
    return error instanceof UsageError ? error.message : String(error);
  }
};

test('a whole number in the range, or none, is accepted', (t) => {
  t.is(messageOf('--shards', undefined), undefined);
  t.is(messageOf('--shards', 1), undefined);
  t.is(messageOf('--share', 0, { min: 0 }), undefined);
  t.is(messageOf('--bins', 16, { max: 16 }), undefined);
});

test('other numbers are rejected with the range and the value as written', (t) => {
  t.is(messageOf('--shards', 0), 'expected a whole number of 1 or more for --shards but got 0');
  t.is(messageOf('--share', 1.5, { min: 0 }), 'expected a whole number of 0 or more for --share but got 1.5');
  t.is(messageOf('--bins', 17, { max: 16 }), 'expected a whole number from 1 to 16 for --bins but got 17');
  t.is(
    messageOf('--nodes', Number.NaN, {}, 'x'),
    'expected a whole number of 1 or more for --nodes but got "x"',
  );
});
