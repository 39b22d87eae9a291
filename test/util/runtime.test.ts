import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { MAIN } from '../cli/cli.js';

const folder = mkdtempSync(join(tmpdir(), 'clsort-runtime-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));
const opencl = new URL('../../src/opencl/index.js', import.meta.url).href;

/** A module that makes this Node identify as another runtime or resolver. */
function posingAs(name: string, version: string, more = ''): string {
  const file = join(folder, `${name}.cjs`);
  const versions = `{ ...process.versions, ${name}: '${version}' }`;
  writeFileSync(file, `Object.defineProperty(process, 'versions', { value: ${versions} });\n${more}`);
  return file;
}

/** The message when there is no addon. */
function withoutAddon(args: readonly string[]): string {
  const program = `import(${JSON.stringify(opencl)}).then((cl) => cl.getPlatformIDs()).catch(({ message }) => console.log(message))`;
  const env = { ...process.env, CLSORT_ADDON: join(folder, 'missing.node') };
  return spawnSync(process.execPath, [...args, '-e', program], { env, encoding: 'utf8' }).stdout;
}

for (const [name, runtimeText] of [
  ['bun', 'Bun 1.2.3'],
  ['deno', 'Deno 1.2.3'],
] as const) {
  test(`without an addon ${runtimeText} is named, and no version of Node`, (t) => {
    const errorOutput = withoutAddon(['--require', posingAs(name, '1.2.3')]);
    t.regex(errorOutput, new RegExp(`cannot load clsort's native addon for ${runtimeText} on `));
    t.regex(errorOutput, new RegExp(`The addon is for Node\\.js, and this is ${runtimeText}\\.`));
    t.notRegex(errorOutput, /Node \d|version of Node|node-gyp/);
  });
}

test('another version of Node is advised only where it would help', (t) => {
  t.notRegex(withoutAddon([]), /version of Node/, 'this version has prebuilt addons');
});

test("the process of a reader gets the options of Yarn's Plug'n'Play, and no others", (t) => {
  writeFileSync(join(folder, 'in.f64'), Float64Array.of(2, 1));
  const marks = join(folder, 'marks');
  const mark = `if (/subprocess/.test(process.argv[1])) require('node:fs').appendFileSync(${JSON.stringify(marks)}, 'x');`;
  const convert = (preload: string): void => {
    const args = [MAIN, 'convert', join(folder, 'in.f64'), '-o', join(folder, 'out.arrow')];
    const env = { ...process.env, NODE_OPTIONS: `--require ${preload}` };
    const ran = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    t.is(ran.status, 0, ran.stderr);
  };
  const plain = join(folder, 'plain.cjs');
  writeFileSync(plain, mark);
  convert(plain);
  t.false(existsSync(marks));
  convert(posingAs('pnp', '3', mark));
  t.true(readFileSync(marks, 'utf8').length > 0);
});

/** Makes file handles lack what those of Yarn's Plug'n'Play lack. */
const YARN_HANDLES = `require('node:fs/promises').open(__filename).then((handle) => {
  const missing = () => { throw new Error('Method not implemented.'); };
  Object.assign(Object.getPrototypeOf(handle), { sync: missing, datasync: missing, readv: missing });
  return handle.close();
});`;
/** Makes the pipes of a reader process non-blocking, as modules that are loaded first may do. */
const NON_BLOCKING = `if (/subprocess/.test(process.argv[1])) {
  process.stdout._handle?.setBlocking?.(false);
  process.stdin._handle?.setBlocking?.(false);
}`;

for (const [what, code] of [
  ["the file handles of Yarn's Plug'n'Play", YARN_HANDLES],
  ['non-blocking pipes to the reader process', NON_BLOCKING],
] as const) {
  test(`files are sorted and converted with ${what}`, (t) => {
    const preload = posingAs('pnp', '3', code);
    const env = { ...process.env, NODE_OPTIONS: `--require ${preload}` };
    const run = (...args: string[]): void => {
      const ran = spawnSync(process.execPath, [MAIN, ...args], { env, encoding: 'utf8', cwd: folder });
      t.is(ran.status, 0, ran.stderr);
    };
    const keys = Float64Array.from({ length: 2 ** 17 }, (_, i) => (i * 7919) % 100_003);
    writeFileSync(join(folder, 'keys.f64'), keys);
    run('convert', 'keys.f64', '-o', 'keys.arrow');
    run('sort', 'keys.arrow', '-o', 'sorted.arrow');
    run('convert', 'sorted.arrow', '-o', 'sorted.f64');
    const sorted = readFileSync(join(folder, 'sorted.f64'));
    t.true(sorted.equals(new Uint8Array(keys.sort().buffer)));
    writeFileSync(join(folder, 'keys.csv'), `key\n${keys.toReversed().join('\n')}\n`);
    run('sort', 'keys.csv', '-o', 'sorted.csv', '--by', 'key');
    t.is(readFileSync(join(folder, 'sorted.csv'), 'utf8'), `key\n${keys.join('\n')}\n`);
  });
}
