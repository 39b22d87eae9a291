import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SelfTestRecord } from '../src/util/self-test-records.js';

/** The self-test records in a cache folder, by variant. */
export function selfTestsIn(cache: string): Readonly<Record<string, SelfTestRecord>> {
  const folder = join(cache, 'self-tests');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return Object.fromEntries(
    files.map((file) => {
      const sealed = readFileSync(join(folder, file), 'utf8');
      const { variant, ...record } = JSON.parse(sealed.slice(sealed.indexOf('\n')));
      return [variant, record];
    }),
  );
}
