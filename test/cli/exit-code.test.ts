import test from 'ava';
import { EXIT, EXIT_CODES, exitCodeOf } from '../../src/cli/exit-code.js';
import * as exported from '../../src/util/errors.js';

const { ClsortError, errorOfCode, ...errors } = exported;

/** Each error class and its documented exit code. */
const CODES = {
  UsageError: EXIT.usage,
  DtypeError: EXIT.usage,
  InputError: EXIT.io,
  NoLoaderError: EXIT.noDevice,
  NoPlatformError: EXIT.noDevice,
  NoDeviceError: EXIT.noDevice,
  BuildError: EXIT.device,
  MemoryError: EXIT.device,
  DeviceLostError: EXIT.device,
  TimeoutError: EXIT.device,
  MismatchError: EXIT.device,
  FormatError: EXIT.io,
  IoError: EXIT.io,
  PackageError: EXIT.io,
  AbortedError: EXIT.interrupted,
  UnsupportedError: EXIT.device,
  CacheError: EXIT.device, // a warning, never thrown
} as const;

type Name = keyof typeof errors;

test('every error class has its documented exit code', (t) => {
  const names = Object.keys(errors) as Name[];
  t.deepEqual(names.sort(), Object.keys(CODES).sort());
  for (const name of names) t.is(exitCodeOf(new errors[name]('x')), CODES[name], name);
  t.is(exitCodeOf(new ClsortError('ERR_CLSORT_OTHER' as never, 'x')), EXIT.device);
  t.is(exitCodeOf(new Error('x')), undefined);
  t.regex(EXIT_CODES.find(([code]) => code === '5')?.[1] ?? '', /missing package/);
});

test('an error from another process is rebuilt as the class of its code', (t) => {
  const thrown = Object.keys(CODES).filter((name) => name !== 'CacheError') as Name[];
  for (const name of thrown) {
    const { code } = new errors[name]('x');
    t.true(errorOfCode(code, 'x') instanceof errors[name], name);
  }
});
