import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { packageRoot } from '../src/util/paths.js';

/** A layer imports from those to its right only. */
const ORDER = [
  'cli',
  ['explain', 'matrix', 'bench', 'engines'],
  'lab',
  'batch',
  'io',
  'sort',
  ['algorithms', 'primitives'],
  'device',
  'keys',
  'native-host',
  'opencl',
  'util',
] as const;

const RANK = new Map(
  ORDER.flatMap((layers, rank) => [layers].flat().map((layer) => [layer as string, rank])),
);

const src = join(packageRoot, 'src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

interface House {
  readonly FOLDERS: Readonly<Record<string, readonly (string | readonly string[])[]>>;
  importsOf(folder: string): Import[];
  upwardImports(imports: readonly Import[], layer: string, order?: House['FOLDERS'][string]): Import[];
  circlesIn(imports: readonly Import[]): string[][];
}

const house = (): Promise<House> =>
  import(pathToFileURL(join(packageRoot, 'scripts/house/imports.mjs')).href);

/** Returns made-up imports: 'FROM TO' each. */
const graph = (...edges: readonly string[]): Import[] =>
  edges.map((edge) => {
    const [from = '', to = ''] = edge.split(' ');
    return { from, to };
  });

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

test('a folder inside io, sort and device imports only from folders of its layer below it', async (t) => {
  const { FOLDERS, importsOf, upwardImports } = await house();
  const imports = importsOf(src);
  t.true(imports.length > 1000);
  t.deepEqual(Object.keys(FOLDERS).toSorted(), ['device', 'io', 'sort']);
  for (const layer of Object.keys(FOLDERS)) t.deepEqual(upwardImports(imports, layer), []);
});

test('an import of a folder beside or above is found, and so is a folder without a place', async (t) => {
  const { upwardImports } = await house();
  const order = ['.', 'top', ['left', 'right'], 'bottom'];
  const down = [
    'a/a.ts a/top/b.ts',
    'a/top/b.ts a/top/c.ts',
    'a/top/b.ts a/bottom/c.ts',
    'a/left/b.ts c/c.ts',
  ];
  t.deepEqual(upwardImports(graph(...down), 'a', order), []);
  for (const up of ['a/top/b.ts a/a.ts', 'a/left/b.ts a/right/c.ts', 'a/bottom/b.ts a/left/c.ts']) {
    t.deepEqual(upwardImports(graph(...down, up), 'a', order), graph(up));
  }
  t.throws(() => upwardImports(graph('a/new/b.ts a/top/c.ts'), 'a', order), { message: /a\/new\/b\.ts/ });
});

// Every import makes a circle, also one of types alone, which TypeScript erases, and one on demand.
test('files of src do not import each other in circles', async (t) => {
  const { circlesIn, importsOf } = await house();
  t.deepEqual(circlesIn(importsOf(src)), []);
});

test('circles of files are found', async (t) => {
  const { circlesIn } = await house();
  const tree = graph('a b', 'a c', 'b d', 'c d', 'd e');
  t.deepEqual(circlesIn(tree), []);
  t.deepEqual(circlesIn([...tree, ...graph('e b')]), [['b', 'd', 'e']]);
  t.deepEqual(circlesIn([...tree, ...graph('e a')]), [['a', 'b', 'c', 'd', 'e']]);
  t.deepEqual(circlesIn([...tree, ...graph('c c', 'f g', 'g f')]).toSorted(), [['c'], ['f', 'g']]);
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
    // The doctor tries libraries of drivers in another process, and packages of npm are loaded by name.
    matching(/dlopen|createRequire\([^)]*\)\(/, (file) =>
      ['opencl/binding.ts', 'cli/doctor-checks.ts', 'util/optional-package.ts'].includes(file),
    ),
    [],
  );
});

test('only cli/ and batch/worker.ts use stdout, stderr, signals and the exit code of the process', (t) => {
  t.deepEqual(
    matching(
      /process\.(stdout|stderr|exit\b|exitCode|on\()|console\.(log|error|warn)\(/,
      (file) =>
        // batch/worker.ts is the main program of a process.
        file.startsWith('cli/') || file === 'batch/worker.ts',
    ),
    [],
  );
});

test('only device/ asks whether a compiler accepts inline PTX', (t) => {
  for (const file of files.filter((name) => layerOf(name) !== 'device')) {
    t.notRegex(readFileSync(join(src, file), 'utf8'), /inlinePtx/, file);
  }
});

test('only device/ and tuning data name a vendor in code', (t) => {
  const code = (file: string) => codeOf(file).replaceAll(/\/\/.*$/gm, '');
  const named = files.filter((file) => /nvidia|radeon|\bmesa\b|rusticl|clover/i.test(code(file)));
  // Rows of the tuning table are data, keyed by the names that device/ defines. The doctor gives advice by vendor.
  t.deepEqual(
    named.filter((file) => !file.startsWith('device/') && !/tuning|cli\/doctor-checks/.test(file)),
    [],
  );
});
