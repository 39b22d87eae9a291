import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import test from 'ava';
import { packageRoot } from '../src/util/paths.js';

/** A layer imports from those to its right only. */
const ORDER = [
  'cli',
  ['explain', 'matrix', 'bench', 'engines'],
  'batch',
  'io',
  'sort',
  ['algorithms', 'primitives'],
  'device',
  'keys',
  'opencl',
  'util',
] as const;

const RANK = new Map(
  ORDER.flatMap((layers, rank) => [layers].flat().map((layer) => [layer as string, rank])),
);

const src = join(packageRoot, 'src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

const layerOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : 'index');

interface Import {
  readonly from: string;
  readonly to: string;
}

const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(src, from), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) => ({
    from,
    to: relative(src, resolve(src, dirname(from), path)),
  }));
});

test('every folder of src is a known layer', (t) => {
  const layers = new Set(files.map(layerOf));
  layers.delete('index');
  t.deepEqual(
    [...layers].filter((layer) => !RANK.has(layer)),
    [],
  );
});

test('a layer imports only from layers below it', (t) => {
  const wrong = imports.filter(({ from, to }) => {
    const [upper, lower] = [layerOf(from), layerOf(to)];
    if (upper === lower || upper === 'index') return false;
    // The command uses the library by its public entry.
    if (lower === 'index') return !['cli', 'batch', 'matrix', 'bench', 'explain'].includes(upper);
    return (RANK.get(upper) ?? 0) >= (RANK.get(lower) ?? 0);
  });
  t.deepEqual(wrong, []);
});

test('the files of algorithms have no circular imports, not even of types', (t) => {
  const next = (file: string) =>
    imports.filter(({ from }) => from === file).map(({ to }) => to.replace(/\.js$/, '.ts'));
  const circleAt = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (layerOf(file) !== 'algorithms') return undefined;
    for (const to of next(file)) {
      const circle = circleAt(to, [...path, file]);
      if (circle) return circle;
    }
    return undefined;
  };
  const algorithms = files.filter((file) => layerOf(file) === 'algorithms');
  t.true(algorithms.some((file) => next(file).length > 3));
  for (const file of algorithms) t.is(circleAt(file, [])?.join(' → '), undefined);
});

test('util and keys import only from util and keys', (t) => {
  const below = new Set(['util', 'keys']);
  t.deepEqual(
    imports.filter(({ from, to }) => below.has(layerOf(from)) && !below.has(layerOf(to))),
    [],
  );
});

/** The source of a file without block comments, which may contain examples. */
const codeOf = (file: string): string =>
  readFileSync(join(src, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');

const matching = (pattern: RegExp, except: (file: string) => boolean): string[] =>
  files.filter((file) => !except(file) && pattern.test(codeOf(file)));

test('only opencl/binding.ts loads the addon', (t) => {
  t.deepEqual(
    matching(/createRequire|dlopen/, (file) => file === 'opencl/binding.ts'),
    [],
  );
});

test('only cli/ and batch/child.ts use stdout, stderr, signals and the exit code of the process', (t) => {
  t.deepEqual(
    matching(
      /process\.(stdout|stderr|exit\b|exitCode|on\()|console\.(log|error|warn)\(/,
      (file) =>
        // batch/child.ts is the main program of a process.
        file.startsWith('cli/') || file === 'batch/child.ts',
    ),
    [],
  );
});

test('only device/ and tuning data name a vendor in code', (t) => {
  const code = (file: string) => codeOf(file).replaceAll(/\/\/.*$/gm, '');
  const named = files.filter((file) => /nvidia|radeon|\bmesa\b|rusticl|clover/i.test(code(file)));
  // Rows of the tuning table and of measured rates are data, keyed by the names that device/ defines.
  t.deepEqual(
    named.filter((file) => !file.startsWith('device/') && !/tuning|forecast\/measured/.test(file)),
    [],
  );
});
