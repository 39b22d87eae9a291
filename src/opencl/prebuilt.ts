import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageFolder } from '../util/package.js';

/**
 * Whether the running Node is linked to musl (as on Alpine) instead of glibc. This is slow: Node provides the answer
 * only in a report on the whole process. The report is made without network lookups.
 */
export function isMusl(): boolean {
  // The types of Node 20 lack this property, which exists at run time.
  const report = process.report as (typeof process.report & { excludeNetwork: boolean }) | undefined;
  if (process.platform !== 'linux' || !report) return false;
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header?: object };
  report.excludeNetwork = excludeNetwork;
  return header !== undefined && !('glibcVersionRuntime' in header);
}

/** Name of the platform: linux-x64, linux-x64-musl, darwin-arm64, … */
export const platformName = (): string => `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;

/** Major version of the running Node. */
const major = (): string => process.versions.node.split('.')[0] ?? '';

/** Platforms and major versions of Node that have a package with a prebuilt addon. */
export const PREBUILT_PLATFORMS = ['linux-x64', 'linux-arm64', 'linux-x64-musl', 'linux-arm64-musl'];
export const PREBUILT_NODES = ['20', '22', '24', '26'];

/** Name of the package with the addon for the running Node on this platform; undefined if none is published. */
export const addonPackage = (): string | undefined =>
  PREBUILT_NODES.includes(major()) && PREBUILT_PLATFORMS.includes(platformName())
    ? `@clsort/${platformName()}-node${major()}`
    : undefined;

/** Path of the addon in that package, where Node finds it from the folder of clsort; undefined if it is not installed. */
export function packagedAddon(): string | undefined {
  const name = addonPackage();
  if (name === undefined) return undefined;
  try {
    return createRequire(join(packageFolder(), 'package.json')).resolve(`${name}/clsort.node`);
  } catch {
    return undefined;
  }
}
