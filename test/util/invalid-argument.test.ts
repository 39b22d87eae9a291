import test from 'ava';
import { InputError, UsageError } from '../../src/util/errors.js';
import { invalidArgument, withAdvice } from '../../src/util/invalid-argument.js';

test('an invalid argument names what was expected, the argument, the value and what to do', (t) => {
  const error = invalidArgument('--workers', 'a whole number from 1 to 16', 'ten', {
    advice: 'Pass a count',
  });
  t.true(error instanceof UsageError);
  t.is(error.message, 'expected a whole number from 1 to 16 for --workers but got "ten". Pass a count');
  t.is(error.code, 'ERR_CLSORT_USAGE');
  t.deepEqual(error.details, { option: '--workers', got: 'ten' });
});

test('an invalid argument may have another class, a described value and more details', (t) => {
  const error = invalidArgument(
    'into',
    'an array of 8 keys',
    { text: 'one of 7' },
    {
      type: InputError,
      details: { length: 8 },
    },
  );
  t.true(error instanceof InputError);
  t.is(error.message, 'expected an array of 8 keys for into but got one of 7');
  t.deepEqual(error.details, { option: 'into', got: 'one of 7', length: 8 });
});

test('advice is a sentence of its own', (t) => {
  t.is(
    withAdvice('cannot read a.csv: it is empty', 'Add a row'),
    'cannot read a.csv: it is empty. Add a row',
  );
  t.is(withAdvice('cannot read a.csv: it is empty', undefined), 'cannot read a.csv: it is empty');
});
