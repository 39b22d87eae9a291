import test from 'ava';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { NoDeviceError, UnsupportedError } from '../../../src/util/errors.js';

// The addon is loaded by the first call that needs it, and this file has a separate process.
process.env.CLSORT_ADDON = '/nowhere/clsort.node';

const keys = Uint32Array.of(3, 1, 2);

test('without a device the host engine sorts, and a device algorithm rejects with the reason', async (t) => {
  const warnings: Error[] = [];
  await using sorter = await Sorter.open({ onWarning: (warning) => warnings.push(warning) });
  t.true(warnings[0] instanceof NoDeviceError);
  t.deepEqual(await sorter.sort(keys), Uint32Array.of(1, 2, 3));
  const error = await t.throwsAsync(sorter.sort(keys, { algorithm: 'onesweep' }), {
    instanceOf: UnsupportedError,
  });
  t.regex(error?.message ?? '', /cannot use algorithm 'onesweep': it needs an OpenCL device \(cannot load/);
  t.regex(error?.message ?? '', /Possible solutions/);
  t.is(error?.cause, warnings[0]?.cause);
});

test('a device algorithm rejects if the host engine was requested', async (t) => {
  await using sorter = await Sorter.open({ device: 'host' });
  const error = await t.throwsAsync(sorter.sort(keys, { algorithm: 'onesweep' }), {
    instanceOf: UnsupportedError,
  });
  t.regex(error?.message ?? '', /cannot use algorithm 'onesweep': it needs an OpenCL device\./);
  t.is(error?.cause, undefined);
});

test('without the addon, a Sorter on the host engine warns once that it sorts in JavaScript', async (t) => {
  const warnings: Error[] = [];
  await using sorter = await Sorter.open({ device: 'host', onWarning: (warning) => warnings.push(warning) });
  t.deepEqual(await sorter.sort(keys), Uint32Array.of(1, 2, 3));
  t.deepEqual(await sorter.sort(keys), Uint32Array.of(1, 2, 3));
  t.is(warnings.length, 1);
  t.regex(
    warnings[0]?.message ?? '',
    /^cannot use the fast host engine, so JavaScript sorts on one thread: cannot load/,
  );
});
