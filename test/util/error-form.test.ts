import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

const FORM = /^(?:expected .* but |cannot .*:(?:\s|\\n|\$\{))/s;

/** Other messages, by file or folder. */
const ALLOWED: readonly (readonly [path: string, form: RegExp, reason: string])[] = [
  ['', /^interrupted$/, 'the message of an AbortedError'],
  ['', /falling back to the host|^\$\{(?:cause\.)?message\}; /, 'a warning'],
  ['cli/commands/batch.ts', /^is a directory$/, 'ioError translates the code'],
  ['device/memory/staging.ts', /^\$\{code\}: /, 'a system error in the form of Node.js'],
  ['engines/redis.ts', /^no answer within/, 'a cause that redisError completes'],
  [
    'io/',
    /^(?:is a directory|no name of a file|too many symbolic links|closed$)/,
    'ioError translates the code',
  ],
  ['io/file-sort/text-warning.ts', /^\$\{name\} begins/, 'a warning'],
  ['io/formats/subprocess/', /^/, 'a cause that the parent process completes'],
  ['io/formats/text/json-', /^/, 'a cause that the reader of JSON completes'],
  ['io/streams/growing-bytes.ts', /^/, 'a cause that decompression completes'],
  ['io/streams/zstd-frames.ts', /^/, 'a cause that decompression completes'],
  ['io/streams/decompress-stream.ts', /^/, 'a cause that decompression completes'],
];

test('error messages say what was expected or what cannot be done', (t) => {
  const others: string[] = [];
  let found = 0;
  for (const name of readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })) {
    const path = name.replaceAll(sep, '/');
    if (!path.endsWith('.ts')) continue;
    const text = readFileSync(join(packageRoot, 'src', path), 'utf8');
    const literals = text.matchAll(/new \w*(?:Error|Fault)\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)/g);
    for (const [, , literal = ''] of literals) {
      found++;
      const isAllowed = ALLOWED.some(([place, form]) => path.startsWith(place) && form.test(literal));
      if (!FORM.test(literal) && !isAllowed) others.push(`${path}: ${literal}`);
    }
  }
  t.true(found > 350);
  t.deepEqual(others, []);
});
