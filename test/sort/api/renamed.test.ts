/** Old names of the public API throw an error that names the new one. */

import test from 'ava';
import { close } from '../../../src/index.js';
import { UsageError } from '../../../src/util/errors.js';
import { fakeSorter } from '../fake-backend.js';

test('an old function throws a UsageError with the new name', (t) => {
  const error = t.throws(() => close(), {
    instanceOf: UsageError,
    message: /expected closeAll .* got close/,
  });
  t.deepEqual(error?.details, { option: 'close', use: 'closeAll', got: 'close' });
});

test('an old method throws a UsageError with the new name', (t) => {
  const sorter = fakeSorter().sorter as unknown as Record<string, () => unknown>;
  for (const [old, name] of [
    ['alloc', 'allocPinned'],
    ['free', 'freePinned'],
    ['allocate', 'createArray'],
  ] as const) {
    const message = `expected ${name} for the method but got ${old}. The method was renamed`;
    t.throws(() => sorter[old]?.(), { instanceOf: UsageError, message });
  }
});
