import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addonPackage } from '../src/opencl/prebuilt.js';
import { packageRoot } from '../src/util/paths.js';

/** The addon that these tests use. */
const addon = (): string =>
  [process.env.CLSORT_ADDON, join(packageRoot, 'build/Release/clsort.node')].find(
    (file) => file !== undefined && existsSync(file),
  ) ?? 'no addon';

/**
 * Copies the files that npm would install to `<project>/node_modules/clsort`.
 *
 * @param options whether the package of an addon is installed for this Node and system
 * @returns the package's folder
 */
export function installInto(project: string, { withAddon = true } = {}): string {
  const folder = join(project, 'node_modules', 'clsort');
  for (const path of ['package.json', 'cl', 'dist/lib', 'dist/types', 'docs/batch.schema.json']) {
    cpSync(join(packageRoot, path), join(folder, path), { recursive: true });
  }
  if (withAddon) {
    const place = join(project, 'node_modules', addonPackage() ?? 'no package');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name: addonPackage() }));
    cpSync(addon(), join(place, 'clsort.node'));
  }
  return folder;
}
