/** Folders of parts: one result in many files, ordered by name, with a manifest. */

import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Dtype } from '../../keys/dtype.js';
import { FormatError } from '../../util/errors.js';
import { parseJson } from '../../util/json.js';
import { ioError } from './raw.js';
import { writeFileAtomic } from './write-file-atomic.js';

export const PARTS_SCHEMA = 'clsort.parts/1';

export interface PartsManifest {
  readonly schema: typeof PARTS_SCHEMA;
  /** Version of the clsort that wrote it. */
  readonly clsort: string;
  /** Total number of keys or records. */
  readonly n: number;
  /** Layout and order of the keys or records. */
  readonly units:
    | {
        readonly dtype: Dtype;
        readonly descending: boolean;
        readonly nan: 'first' | 'last';
        readonly bits: readonly [begin: number, end: number];
      }
    | { readonly record: number; readonly keys: readonly string[]; readonly nan: 'first' | 'last' };
  /** Format of the parts, as for `--format`. */
  readonly format: string;
  readonly bigEndian?: boolean;
  /** Text options, when not the default. */
  readonly header?: boolean;
  readonly delimiter?: string;
  readonly parts: readonly { readonly name: string; readonly n: number; readonly bytes: number }[];
}

const MANIFEST = 'manifest.json';

/**
 * Writes the manifest, which marks a folder as one of parts.
 *
 * @throws IoError when writing fails
 */
export const writeParts = (folder: string, manifest: PartsManifest): Promise<void> =>
  writeFileAtomic(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`);

/**
 * Reads the manifest of a folder; returns undefined when the path is no folder or has no manifest.
 *
 * @throws FormatError when the manifest is invalid
 * @throws IoError when reading fails
 */
export async function readParts(path: string): Promise<PartsManifest | undefined> {
  if (!(await stat(path).catch(() => undefined))?.isDirectory()) return undefined;
  const file = join(path, MANIFEST);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw ioError('read', file, error);
  });
  if (text === undefined) return undefined;
  const manifest = parseJson(text) as PartsManifest | undefined;
  if (manifest?.schema !== PARTS_SCHEMA || !Array.isArray(manifest.parts)) {
    throw new FormatError(`cannot read ${file}: it is not a manifest of parts (${PARTS_SCHEMA})`, {
      details: { path: file },
    });
  }
  for (const { name } of manifest.parts) {
    // The manifest is untrusted: it must not name files outside its folder.
    if (typeof name === 'string' && /^[\w][\w.-]*$/.test(name) && basename(name) === name) continue;
    throw new FormatError(
      `cannot read ${file}: it lists the part ${JSON.stringify(name)}, which is not the name of a file in its folder`,
      { details: { path: file } },
    );
  }
  return manifest;
}

/** Files in place of folders of parts, and the first manifest found. */
export interface ExpandedParts {
  readonly paths: readonly string[];
  readonly manifest: PartsManifest | undefined;
}

/**
 * Replaces each folder that has a manifest by the paths of its parts.
 *
 * @throws FormatError when a manifest is invalid
 * @throws IoError when reading fails
 */
export async function expandParts(paths: readonly string[]): Promise<ExpandedParts> {
  const files: string[] = [];
  let first: PartsManifest | undefined;
  for (const path of paths) {
    const manifest = await readParts(path);
    first ??= manifest;
    files.push(...(manifest ? manifest.parts.map(({ name }) => join(path, name)) : [path]));
  }
  return { paths: files, manifest: first };
}
