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

/** Folder of the prebuilt addons, with one folder for each platform. */
export const prebuilds = (): string => join(packageFolder(), 'prebuilds');

/** Path of the prebuilt addon for the running Node on this platform; the file may not exist. */
export const prebuiltAddon = (): string =>
  join(prebuilds(), platformName(), `node-abi-${process.versions.modules}`, 'clsort.node');
