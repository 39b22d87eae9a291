import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { packageRoot } from '../../src/util/paths.js';
import { type Tree, withTree } from './tree.js';

interface Which {
  readonly platform: string;
  readonly version: string;
}
interface Prebuilds {
  readonly PROMISED: readonly Which[];
  prebuiltAddon(root: string, which: Which): string;
  writeRecord(root: string, which: Which, sources: string): void;
}

const pack = ({ folder, env }: Tree) =>
  spawnSync(process.execPath, ['scripts/pack.mjs', join(folder, 'out')], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });

const manifestOf = (archive: string) =>
  JSON.parse(execFileSync('tar', ['-xzOf', archive, 'package/package.json'], { encoding: 'utf8' })) as Record<
    string,
    unknown
  >;

test('scripts/pack.mjs requires all promised addons, built from the current version and sources', async (t) => {
  const prebuilds = (await import(
    pathToFileURL(join(packageRoot, 'scripts/prebuilds.mjs')).href
  )) as Prebuilds;
  const { PROMISED, prebuiltAddon, writeRecord } = prebuilds;
  withTree((tree) => {
    const { folder } = tree;
    mkdirSync(join(folder, 'dist/src/cli'), { recursive: true });
    mkdirSync(join(folder, 'dist/bin'));
    writeFileSync(join(folder, 'dist/bin/clsort.js'), '');
    writeFileSync(join(folder, 'LICENSE'), '');
    writeFileSync(join(folder, 'dist/src/cli/main.js'), "console.log('.TH CLSORT 1')");
    const refused = (what: RegExp) => {
      const { status, stderr } = pack(tree);
      t.not(status, 0);
      t.regex(stderr, what);
      t.regex(stderr, /scripts\/prebuild\.mjs/);
      return stderr;
    };
    const all = refused(/16 of the 16 prebuilt addons/);
    for (const { platform, version } of PROMISED) {
      t.regex(all, new RegExp(`${platform}, Node ${version} \\(ABI \\d+\\): missing`));
    }

    for (const which of PROMISED) {
      const addon = prebuiltAddon(folder, which);
      mkdirSync(dirname(addon), { recursive: true });
      writeFileSync(addon, JSON.stringify(which));
      writeRecord(folder, which, folder);
    }
    const packed = pack(tree);
    t.is(packed.status, 0, packed.stderr);
    const archives = packed.stdout.trim().split('\n');
    t.is(archives.length, 17);
    const archive = archives.at(-1) ?? '';
    const files = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' });
    t.regex(files, /package\/dist\/bin\/clsort\.1\n/);
    t.regex(files, /package\/src\/native\/addon\.gyp\n/);
    t.notRegex(files, /binding\.gyp|\.node\n/);
    const published = manifestOf(archive);
    for (const field of ['scripts', 'devDependencies', 'private', 'gypfile'])
      t.is(published[field], undefined, field);
    t.is(Object.keys(published.optionalDependencies as object).length, 16);
    const addonOf = archives.find((file) => file.includes('clsort-linux-arm64-musl-node26')) ?? '';
    const { name, os, cpu, libc, engines } = manifestOf(addonOf);
    t.deepEqual(
      { name, os, cpu, libc, engines },
      {
        name: '@clsort/linux-arm64-musl-node26',
        os: ['linux'],
        cpu: ['arm64'],
        libc: ['musl'],
        engines: { node: '26.x' },
      },
    );

    const [one = { platform: '', version: '' }] = PROMISED;
    const addon = prebuiltAddon(folder, one);
    const contents = readFileSync(addon);
    writeFileSync(addon, 'another');
    refused(/1 of the 16 [\s\S]*linux-x64, Node 20 .*: changed after it was built/);
    rmSync(join(dirname(addon), 'clsort.json'));
    refused(/not built by scripts\/prebuild\.mjs/);
    writeFileSync(addon, contents);
    writeRecord(folder, one, folder);

    writeFileSync(join(folder, 'src/native/addon.cc'), '// changed');
    refused(/16 of the 16 [\s\S]*built from other sources/);
    const file = join(folder, 'package.json');
    const about = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
    writeFileSync(file, JSON.stringify({ ...about, version: '9.9.9' }));
    refused(
      new RegExp(`of version ${about.version.replaceAll('.', '\\.')}, where package\\.json says 9\\.9\\.9`),
    );
  });
});
