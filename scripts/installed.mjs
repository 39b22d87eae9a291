// Tests that the packed package sorts after installation: in an empty folder and without a compiler.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { packAll } from './pack.mjs';

const PROGRAM = `
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { sort } from 'clsort';

const keys = Uint32Array.from({ length: 100_000 }, (_, i) => Math.imul(i, 2654435761));
let report;
const sorted = await sort(keys, { algorithm: 'amd', verify: true, onReport: (it) => { report = it; } });
assert.deepEqual(sorted, keys.toSorted());
assert.notEqual(report.device.type, 'host');
assert.equal(typeof createRequire(import.meta.url)('clsort/opencl').getPlatformIDs, 'function');
console.log(\`Node \${process.version} for \${process.arch}: sorted by \${report.algorithm} on \${report.device.name}\`);
`;

/** Sorts where no OpenCL loader is found, which the environment simulates. */
const WITHOUT_OPENCL = `
import assert from 'node:assert/strict';
import { sort } from 'clsort';

process.env.CLSORT_OPENCL_LIBRARY = '/nowhere/libOpenCL.so';
const keys = Float64Array.from({ length: 100_000 }, (_, i) => Math.sin(i));
let report;
const warnings = [];
const onWarning = (warning) => warnings.push(warning.code);
const sorted = await sort(keys, { verify: true, onWarning, onReport: (it) => { report = it; } });
assert.deepEqual(sorted, keys.toSorted());
assert.equal(report.device.type, 'host');
assert.equal(report.facts.engine, 'addon');
assert.deepEqual(warnings, ['ERR_CLSORT_NO_DEVICE']);
console.log(\`Node \${process.version} without OpenCL: sorted by \${report.facts.threads} threads of the \${report.facts.engine}\`);
`;

/** The npm of this machine, which any Node can run. */
const NPM = execFileSync('sh', ['-c', 'readlink -f "$(command -v npm)"'], { encoding: 'utf8' }).trim();

/** Returns the package.json in an archive. */
const manifestOf = (archive) =>
  JSON.parse(execFileSync('tar', ['-xzOf', archive, 'package/package.json'], { encoding: 'utf8' }));

/** Starts a registry of the archives, so that npm chooses among the addons. */
async function serve(archives) {
  const byName = new Map(archives.map((archive) => [manifestOf(archive).name, archive]));
  const server = createServer(({ url }, response) => {
    const path = decodeURIComponent(url).slice(1);
    if (path.endsWith('.tgz'))
      return response.end(readFileSync(archives.find((one) => basename(one) === path)));
    const archive = byName.get(path);
    if (!archive) return response.writeHead(404).end('{}');
    const manifest = manifestOf(archive);
    const { port } = server.address();
    const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    const dist = { tarball: `http://127.0.0.1:${port}/${basename(archive)}`, integrity };
    const versions = { [manifest.version]: { ...manifest, dist } };
    response.end(JSON.stringify({ name: path, 'dist-tags': { latest: manifest.version }, versions }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/**
 * Packs the package and the addons that exist, and passes them to `use`.
 *
 * @param use receives the archive of the package, those of the addons, and the URL of a registry of the addons; all of
 *   them end afterwards
 */
export async function withPackages(use) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-packed-'));
  const archives = packAll(folder);
  const server = await serve(archives);
  try {
    await use({
      archive: archives.at(-1),
      addons: archives.slice(0, -1),
      registry: `http://127.0.0.1:${server.address().port}/`,
    });
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates the folder of a program that depends on the package. */
export function makeApp(folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  writeFileSync(join(folder, 'program.mjs'), PROGRAM);
  writeFileSync(join(folder, 'without-opencl.mjs'), WITHOUT_OPENCL);
}

/**
 * Installs the archives into an empty folder, then sorts and lists devices there.
 *
 * @param folder created for the program that depends on the package
 * @param node runs Node with arguments in that folder, with only a linker in PATH, and returns the output
 */
export async function proveInstalled({ archive, registry }, folder, node) {
  makeApp(folder);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  process.stdout.write(await node([NPM, 'install', ...quiet, `--@clsort:registry=${registry}`, archive]));
  // Exactly one addon: npm skips those for other platforms and versions of Node.
  assert.equal(readdirSync(join(folder, 'node_modules', '@clsort')).length, 1);
  await proveSorts(node);
}

/** Sorts in a folder where the package is installed. */
export async function proveSorts(node) {
  process.stdout.write(await node(['program.mjs']));
  process.stdout.write(await node(['without-opencl.mjs']));
  process.stdout.write(await node(['node_modules/clsort/dist/bin/clsort.js', 'devices']));
}
