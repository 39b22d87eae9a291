import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { packageRoot } from '../src/util/paths.js';
import { installInto } from './installed.js';

const docs = readFileSync(join(packageRoot, 'docs/bundlers.md'), 'utf8');

/** The commands of the docs, by the names in the comments above them. */
const RECIPES = new Map(
  [...docs.matchAll(/<!-- ([a-z ]+) -->\n```sh\n([\s\S]*?)```/g)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
);

/** Sorts on a device and prints the device type, or prints the error. */
const PROGRAM = `
import { sort } from 'clsort';

const keys = Uint32Array.from({ length: 20_000 }, (_, i) => Math.imul(i, 2654435761));
let report;
const onReport = (it) => { report = it; };
sort(keys, { algorithm: 'amd', device: process.argv[2] ?? 'auto', verify: true, onReport }).then(
  (sorted) => console.log(sorted.every((key, i) => i === 0 || sorted[i - 1] <= key), report.device.type),
  (error) => console.log(error.code, error.message),
);
`;

interface Place {
  /** Folders of the clsort installation and of the bundle. */
  readonly project: string;
  /** A folder with only the files that a test moved there. */
  readonly elsewhere: string;
}

function inFolders(use: (place: Place) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-bundle-'));
  try {
    const project = join(folder, 'project');
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    installInto(project);
    symlinkSync(join(packageRoot, 'node_modules/@rollup'), join(project, 'node_modules/@rollup'));
    writeFileSync(join(project, 'package.json'), '{ "name": "somebody", "version": "1.0.0" }\n');
    writeFileSync(join(project, 'program.mjs'), PROGRAM);
    use({ project, elsewhere });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Follows recipes of the docs. */
function follow(t: ExecutionContext, { project }: Place, ...names: string[]): void {
  for (const name of names) {
    const made = spawnSync('sh', ['-ec', RECIPES.get(name) ?? 'false'], {
      cwd: project,
      encoding: 'utf8',
      env: {
        ...process.env,
        PATH: `${join(packageRoot, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
      },
    });
    t.is(made.status, 0, `${name}: ${made.stderr}`);
  }
}

/** Runs a bundle in place, without `CLSORT_ADDON`. @returns its standard output and standard error */
function run(file: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): string {
  const { CLSORT_ADDON: _, ...rest } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    encoding: 'utf8',
    env: { ...rest, ...env },
  });
  return stdout + stderr;
}

for (const bundler of ['esbuild', 'rollup']) {
  for (const [format, file] of [
    ['esm', 'program.mjs'],
    ['cjs', 'program.cjs'],
  ] as const) {
    test.serial(
      `a ${format} bundle by ${bundler} sorts with the copied files and throws without them`,
      (t) => {
        inFolders((place) => {
          follow(t, place, `${bundler} ${format}`, 'copy');
          const out = join(place.elsewhere, 'out');
          renameSync(join(place.project, 'out'), out);
          const modules = join(place.elsewhere, 'rest/node_modules');
          mkdirSync(dirname(modules));
          t.regex(run(join(out, file)), /^true (cpu|gpu|accelerator)$/m);
          renameSync(join(out, 'node_modules'), modules);
          const without = run(join(out, file), ['cpu']);
          t.regex(without, /ERR_CLSORT_UNSUPPORTED/);
          t.true(without.includes(`runs from ${join(out, file)}, which looks like a bundle`), without);
          t.regex(without, /CLSORT_ROOT/);
          t.regex(without, /docs\/bundlers\.md/);
          t.regex(
            run(join(out, file), [], { CLSORT_ROOT: join(modules, 'clsort') }),
            /^true (cpu|gpu|accelerator)$/m,
          );
        });
      },
    );
  }

  test.serial(`${bundler} leaves clsort out of a bundle as an external package`, (t) => {
    inFolders((place) => {
      follow(t, place, `${bundler} external`);
      const bundle = join(place.project, 'out/program.mjs');
      t.regex(readFileSync(bundle, 'utf8'), /from ["']clsort["']/);
      t.regex(run(bundle), /^true (cpu|gpu|accelerator)$/m);
    });
  });
}

test.serial('a bundle reports which package files are missing or from another version', (t) => {
  inFolders((place) => {
    follow(t, place, 'esbuild esm', 'copy');
    const bundle = join(place.elsewhere, 'program.mjs');
    cpSync(join(place.project, 'out/program.mjs'), bundle);
    const rest = join(place.project, 'out/node_modules/clsort');
    const env = { CLSORT_ROOT: rest };
    rmSync(join(rest, 'cl'), { recursive: true });
    const withoutKernels = run(bundle, ['cpu'], env);
    t.true(withoutKernels.includes(`cannot read ${join(rest, 'cl')}`), withoutKernels);
    t.regex(withoutKernels, /looks like a bundle/);
    for (const modules of [join(rest, '..'), join(place.project, 'node_modules')]) {
      rmSync(join(modules, '@clsort'), { recursive: true });
    }
    t.regex(run(bundle, ['cpu'], env), /install the prebuilt addon: npm install @clsort\//);
    const { version } = JSON.parse(readFileSync(join(rest, 'package.json'), 'utf8')) as { version: string };
    writeFileSync(join(rest, 'package.json'), '{ "name": "clsort", "version": "0.0.1" }');
    t.true(
      run(bundle, ['cpu'], env).includes(
        `cannot find the files of clsort ${version}: ${rest} has clsort 0.0.1`,
      ),
    );
  });
});
