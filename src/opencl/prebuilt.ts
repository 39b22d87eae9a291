import { join } from 'node:path';
import { packageFolder } from '../util/package.js';

/**
 * Whether the running Node is linked to musl, as on Alpine, instead of glibc. Not for nothing: Node tells it in a
 * report on the whole process, which is made without asking the network for names.
 */
export function isMusl(): boolean {
  // The types of Node 20 do not know the property, which it has.
  const report = process.report as (typeof process.report & { excludeNetwork: boolean }) | undefined;
  if (process.platform !== 'linux' || !report) return false;
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header?: object };
  report.excludeNetwork = excludeNetwork;
  return header !== undefined && !('glibcVersionRuntime' in header);
}

/** linux-x64, linux-x64-musl, darwin-arm64, … */
export const platformName = (): string => `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;

/** The folders of the addons that the package brings, one for each platform. */
export const prebuilds = (): string => join(packageFolder(), 'prebuilds');

/** The addon that the package may bring for the running Node on this system. */
export const prebuiltAddon = (): string =>
  join(prebuilds(), platformName(), `node-abi-${process.versions.modules}`, 'clsort.node');
