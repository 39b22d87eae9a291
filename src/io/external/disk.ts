/** Checks of free disk space before a sort starts. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { IoError } from '../../util/errors.js';
import { freeBytes } from '../streams/folder.js';

/** Returns the disk usage of the files of a folder in bytes; 0 when there is no folder. */
export async function diskUsage(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name) => ((await stat(join(folder, name)).catch(() => undefined))?.blocks ?? 0) * 512),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Bytes needed in a folder, in addition to its contents. */
export interface SpaceRequest {
  readonly folder: string;
  readonly bytes: number;
  /** For messages: 'temporary files', 'the result'. */
  readonly what: string;
}

/**
 * Checks whether all requests fit, grouped by disk.
 *
 * @param requests the requests
 * @param saved bytes that are freed on the way when all requests share one disk
 * @throws IoError when they do not fit; `details` has `needed` and `free`, in bytes
 */
export async function assertFreeSpace(requests: readonly SpaceRequest[], saved: number): Promise<void> {
  const disks = new Map<number, SpaceRequest[]>();
  for (const one of requests) {
    const { dev } = (await stat(one.folder).catch(() => undefined)) ?? {};
    if (dev !== undefined) disks.set(dev, [...(disks.get(dev) ?? []), one]);
  }
  for (const all of disks.values()) {
    const needed = all.reduce((sum, { bytes }) => sum + bytes, 0) - (all.length > 1 ? saved : 0);
    const free = await freeBytes(all[0]?.folder ?? '');
    if (free === undefined || needed <= free) continue;
    const parts = all.map(({ what, folder }) => `${what} in ${folder}`).join(' and ');
    throw new IoError(
      `cannot write ${parts}: ${needed} bytes are needed, and the disk has ${free} free. Free space, or name ` +
        'another disk for temporary files (--tmp) or for the output',
      { details: { path: all[0]?.folder, needed, free } },
    );
  }
}
