import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';

/** Folders of src whose errors have the form. */
const FOLDERS = ['bench', 'explain', 'io', 'keys', 'util'];

const FORM = /^(?:expected |cannot )/;

/** Other beginnings, by file or folder. */
const ALLOWED: readonly (readonly [path: string, begin: RegExp, reason: string])[] = [
  ['', /^interrupted$/, 'the message of an AbortedError'],
  [
    'io/',
    /^(?:is a directory|no name of a file|too many symbolic links|closed$)/,
    'ioError translates the code',
  ],
  ['io/text-warning.ts', /^\$\{name\} begins/, 'a warning'],
  ['io/formats/subprocess/', /^/, 'a cause that the parent process completes'],
  ['io/tables/child/', /^/, 'a cause that the parent process completes'],
  ['io/text/json-', /^/, 'a cause that the reader of JSON completes'],
  ['io/zstd-frames.ts', /^/, 'a cause that decompression completes'],
  ['io/decompress-stream.ts', /^/, 'a cause that decompression completes'],
];

test('error messages begin with what was expected or with what cannot be done', (t) => {
  const others: string[] = [];
  let found = 0;
  for (const folder of FOLDERS) {
    for (const name of readdirSync(join(packageRoot, 'src', folder), { recursive: true, encoding: 'utf8' })) {
      const path = `${folder}/${name.replaceAll(sep, '/')}`;
      if (!path.endsWith('.ts')) continue;
      const text = readFileSync(join(packageRoot, 'src', path), 'utf8');
      for (const [, literal = ''] of text.matchAll(/new \w*(?:Error|Fault)\(\s*['"`]((?:[^'"`\\]|\\.)*)/g)) {
        found++;
        const isAllowed = ALLOWED.some(([place, begin]) => path.startsWith(place) && begin.test(literal));
        if (!FORM.test(literal) && !isAllowed) others.push(`${path}: ${literal}`);
      }
    }
  }
  t.true(found > 150);
  t.deepEqual(others, []);
});
