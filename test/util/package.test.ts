import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageFolder, packageText, VERSION } from '../../src/util/package.js';

test('VERSION equals the version in package.json', (t) => {
  const file = join(packageFolder(), 'package.json');
  t.is((JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version, VERSION);
});

test('a missing package file raises an error that reports an incomplete package, not a bundle', (t) => {
  const error = t.throws(() => packageText('cl', 'no-such.cl'), { code: 'ERR_CLSORT_UNSUPPORTED' });
  t.regex(error?.message ?? '', /^cannot read .*no-such\.cl: .*no such file.* Install the package again in /);
});
