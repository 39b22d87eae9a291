import { fdatasync, fsync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

// By descriptor, since the file handles of Yarn's Plug'n'Play have no `sync` and no `datasync`.
const [sync, syncData] = [promisify(fsync), promisify(fdatasync)];

async function isDenied(syncing: Promise<void>): Promise<boolean> {
  try {
    await syncing;
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_ACCESS_DENIED') return true;
    throw error;
  }
}

/** Waits until a file is on its storage. Node's permission model denies that by descriptor, since Node 26 by handle as well. */
export async function syncFile(file: Pick<FileHandle, 'fd' | 'sync'>): Promise<void> {
  if (await isDenied(sync(file.fd))) await isDenied(file.sync());
}

/** As `syncFile`, for the data only. */
export async function syncFileData(file: FileHandle): Promise<void> {
  if (await isDenied(syncData(file.fd))) await isDenied(file.datasync());
}
