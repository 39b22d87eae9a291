import test from 'ava';
import { FormatError, PackageError } from '../../src/util/errors.js';
import { optionalPackage } from '../../src/util/optional-package.js';

const failing = (code: string, message: string) => (): Promise<never> =>
  Promise.reject(Object.assign(new Error(message), { code }));

test('an installed package resolves to its loaded module', async (t) => {
  t.is(await optionalPackage('x', 'this', () => Promise.resolve(7)), 7);
});

test('a package that is not installed raises a PackageError with the install command', async (t) => {
  for (const missing of [
    failing('ERR_MODULE_NOT_FOUND', "Cannot find package 'x' imported from /here"),
    failing('MODULE_NOT_FOUND', "Cannot find module 'x'"),
  ]) {
    const error = await t.throwsAsync(optionalPackage('x', 'this', missing, 'x y'), {
      instanceOf: PackageError,
      message:
        'cannot load the package x, which this needs: it is not installed. Run npm install x y, with --global if clsort is installed globally',
    });
    t.deepEqual(error?.details, { package: 'x' });
  }
});

test('a package that fails to load, or lacks a dependency, raises a PackageError with the cause', async (t) => {
  for (const [code, message] of [
    ['ERR_DLOPEN_FAILED', "'x' is of another system"],
    ['ERR_MODULE_NOT_FOUND', "Cannot find package 'z' imported from /x"],
  ] as const) {
    const loaded = optionalPackage('x', 'this', failing(code, message));
    await t.throwsAsync(loaded, {
      instanceOf: PackageError,
      message: `cannot load the package x, which this needs: ${message}`,
    });
  }
});

test('a ClsortError from the loader is rethrown unchanged', async (t) => {
  const load = (): Promise<never> => Promise.reject(new FormatError('no'));
  await t.throwsAsync(optionalPackage('x', 'this', load), { instanceOf: FormatError, message: 'no' });
});
