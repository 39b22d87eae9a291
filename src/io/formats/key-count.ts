/** Sizes of key files before they are opened, from their names, sizes and headers. */
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { dtypeInfo } from '../../keys/dtype.js';
import { isStdin, openSource } from '../streams/raw.js';
import { nameFacts } from './file-name.js';
import { isReadable } from './format.js';
import type { KeyFormat } from './key-file.js';
import { raw } from './raw.js';

/**
 * Returns the size of files in bytes, at least; undefined for pipes and compressed files.
 *
 * @param paths paths of the files
 */
export async function contentBytes(paths: readonly string[]): Promise<number | undefined> {
  let bytes = 0;
  for (const path of paths) {
    const { compression, format } = await nameFacts(isStdin(path) ? '' : path);
    const stats = isStdin(path) ? undefined : await stat(path).catch(() => undefined);
    if (!stats?.isFile() || compression || (format && !(isReadable(format) && format.compressible))) return;
    bytes += stats.size;
  }
  return bytes;
}

/**
 * Returns an upper bound of the number of keys in files, from their sizes and headers; undefined for pipes and compressed
 * files. A table has no more rows.
 *
 * @param paths paths of the files
 * @param keyBytes size of a key in bytes; undefined when the names or files determine it
 */
export async function maxKeyCount(paths: readonly string[], keyBytes?: number): Promise<number | undefined> {
  let keys = 0;
  for (const path of paths) {
    const { compression, format, named } = await nameFacts(isStdin(path) ? '' : path);
    const declared =
      format && !compression && isReadable(format) ? await declaredKeys(path, format) : undefined;
    const bytes = declared === undefined ? await contentBytes([path]) : undefined;
    if (bytes === undefined && declared === undefined) return;
    const isRaw = format === undefined || format === raw;
    const width = (isRaw && (keyBytes ?? (named && dtypeInfo(named.dtype).bytes))) || 1; // a byte holds at most one key
    keys += declared ?? Math.floor((bytes ?? 0) / width);
  }
  return keys;
}

/** Returns an upper bound of the keys of a file by its header; undefined if it has none, or cannot be read. */
async function declaredKeys(path: string, format: KeyFormat): Promise<number | undefined> {
  if (!format.maxKeys || isStdin(path)) return undefined;
  try {
    if (!(await stat(path)).isFile()) return undefined;
    const source = await openSource(path, Readable.from([]));
    try {
      return await format.maxKeys(source);
    } finally {
      await source.close();
    }
  } catch {
    return undefined; // reported when the file is opened to be read
  }
}
