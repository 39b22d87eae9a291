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
    t.regex(errorOutput, new RegExp(`native addon for ${runtimeText} on .*could not be loaded`));
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
