/** Old names of the public API throw an error that names the new one. */

import test from 'ava';
import { close, DeviceArray, ShardedArray, sortFile } from '../../../src/index.js';
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

test('an old option throws a UsageError with the new name', async (t) => {
  const { sorter } = fakeSorter();
  const keys = Uint8Array.of(2, 1);
  for (const [old, value, name] of [
    ['bits', [0, 4], 'bitRange'],
    ['radixBits', 4, 'advanced.radixBits'],
    ['scan', 3, 'advanced.scan'],
    ['tuning', { chunk: 2 }, 'advanced.tuning'],
  ] as const) {
    const options = { [old]: value } as object;
    const expected = {
      instanceOf: UsageError,
      message: `expected ${name} for the option but got ${old}. The option was renamed`,
    };
    for (const call of [
      () => sorter.sort(keys, options),
      () => sorter.histogram(keys, options),
      () => sortFile('in.u8', 'out.u8', options),
      async () => sorter.plan(2, options),
    ]) {
      const error = await t.throwsAsync(call, expected);
      t.like(error?.details, { option: old, use: name });
    }
  }
});

test('an old tuning throws a UsageError with the new name', async (t) => {
  const { sorter } = fakeSorter();
  const sorted = sorter.sort(Uint8Array.of(2, 1), { advanced: { tuning: { spread: 2 } } });
  await t.throwsAsync(sorted, { instanceOf: UsageError, message: /expected deviceCount .* got spread/ });
});

test('the deprecated option spread of upload is an alias of sharded', async (t) => {
  const { sorter } = fakeSorter();
  const keys = Uint8Array.of(2, 1);
  t.true((await sorter.upload(keys, { spread: true })) instanceof ShardedArray);
  t.true((await sorter.upload(keys, { spread: false })) instanceof DeviceArray);
  t.true((await sorter.upload(keys, { sharded: true })) instanceof ShardedArray);
  await sorter.close();
});
