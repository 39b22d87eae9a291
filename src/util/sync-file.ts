import { fdatasync, fsync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

// By descriptor, since the file handles of Yarn's Plug'n'Play have no `sync` and no `datasync`.
const [sync, syncData] = [promisify(fsync), promisify(fdatasync)];

/** Waits until the data and the metadata of a file are on its storage. */
export const syncFile = ({ fd }: FileHandle): Promise<void> => sync(fd);

/** Waits until the data of a file are on its storage. */
export const syncFileData = ({ fd }: FileHandle): Promise<void> => syncData(fd);
