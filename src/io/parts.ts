/** Folders of parts: one result in many files, which are in order by their names, and a manifest that lists them. */
import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Dtype } from '../keys/dtype.js';
import { FormatError } from '../util/errors.js';
import { ioError } from './raw.js';
import { writeFileAtomic } from './write-file-atomic.js';

export const PARTS_SCHEMA = 'clsort.parts/1';

export interface PartsManifest {
  readonly schema: typeof PARTS_SCHEMA;
  /** Version of who made it. */
  readonly clsort: string;
  /** Keys, or records, in all. */
  readonly n: number;
  /** What they are, and in which order. */
  readonly units:
    | {
        readonly dtype: Dtype;
        readonly descending: boolean;
        readonly nan: 'first' | 'last';
        readonly bits: readonly [begin: number, end: number];
      }
    | { readonly record: number; readonly keys: readonly string[]; readonly nan: 'first' | 'last' };
  /** Of the parts, as `--format` takes it. */
  readonly format: string;
  readonly bigEndian?: boolean;
  /** Of texts, where it is not as usual. */
  readonly header?: boolean;
  readonly delimiter?: string;
  readonly parts: readonly { readonly name: string; readonly n: number; readonly bytes: number }[];
}

const MANIFEST = 'manifest.json';

/** Writes the manifest, which makes a folder one of parts. @throws IoError */
export const writeParts = (folder: string, manifest: PartsManifest): Promise<void> =>
  writeFileAtomic(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`);

/**
 * The manifest of a folder; undefined where the path is no folder, or has none.
 *
 * @throws FormatError where it is not one of ours
 */
export async function readParts(path: string): Promise<PartsManifest | undefined> {
  if (!(await stat(path).catch(() => undefined))?.isDirectory()) return undefined;
  const file = join(path, MANIFEST);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw ioError('read', file, error);
  });
  if (text === undefined) return undefined;
  const manifest = parseManifest(text);
  if (manifest?.schema !== PARTS_SCHEMA || !Array.isArray(manifest.parts)) {
    throw new FormatError(`${file} is no manifest of parts (${PARTS_SCHEMA})`, { details: { path: file } });
  }
  for (const { name } of manifest.parts) {
    // A manifest may come from others: it names nothing outside of its folder.
    if (typeof name === 'string' && /^[\w][\w.-]*$/.test(name) && basename(name) === name) continue;
    throw new FormatError(`${file} names ${JSON.stringify(name)}, which is no file beside it`, {
      details: { path: file },
    });
  }
  return manifest;
}

function parseManifest(text: string): PartsManifest | undefined {
  try {
    return JSON.parse(text) as PartsManifest;
  } catch {
    return undefined;
  }
}

/** Files in place of folders of parts, and what the first folder says that they hold. */
export interface ExpandedParts {
  readonly paths: readonly string[];
  readonly manifest: PartsManifest | undefined;
}

/**
 * Puts the parts in the place of each folder that has a manifest.
 *
 * @throws FormatError, IoError
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
