import { join } from 'node:path';
import { packageRoot } from '../util/paths.js';

/** linux-x64, linux-x64-musl, darwin-arm64, …; not for nothing, since a report takes its time. */
export function platformName(): string {
  const report =
    process.platform === 'linux' ? (process.report?.getReport() as { header?: object }) : undefined;
  const musl = report?.header !== undefined && !('glibcVersionRuntime' in report.header);
  return `${process.platform}-${process.arch}${musl ? '-musl' : ''}`;
}

/** The folders of the addons that the package brings, one for each platform. */
export const prebuilds = join(packageRoot, 'prebuilds');

/** The addon that the package may bring for the running Node on this system. */
export const prebuiltAddon = (): string =>
  join(prebuilds, platformName(), `node-abi-${process.versions.modules}`, 'clsort.node');
