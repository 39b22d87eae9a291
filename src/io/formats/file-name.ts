/** Derives facts from file names: `prices.f64be.gz` is raw, f64, big-endian and compressed with gzip. */
import { dtypeOfName, type NamedDtype } from '../../keys/dtype-name.js';
import { COMPRESSIONS, type Compression } from '../streams/compression.js';
import { resolveTarget } from '../streams/resolve-target.js';
import type { FileFormat } from './file-format.js';
import { extensionOf, formatOfName } from './format.js';
import { raw } from './raw.js';

export interface NameFacts {
  /** The name that the facts come from: the path or its symlink target. */
  readonly name: string;
  /** Undefined for an unknown extension. */
  readonly format: FileFormat | undefined;
  /** The dtype of raw keys; undefined for other formats. */
  readonly named: NamedDtype | undefined;
  readonly compression: Compression | undefined;
}

/** Returns the facts that a name states, without following symlinks. */
export function factsOfName(name: string): NameFacts {
  const last = extensionOf(name);
  const compression = COMPRESSIONS.find(({ extension }) => extension === last);
  const inner = compression ? name.slice(0, -last.length - 1) : name;
  const named = dtypeOfName(extensionOf(inner));
  return { name, named, compression, format: named ? raw : formatOfName(inner) };
}

/** Returns the facts of a path or, if its name states neither format nor compression, of its symlink target. */
export async function nameFacts(path: string): Promise<NameFacts> {
  const own = factsOfName(path);
  if (own.format || own.compression) return own;
  const target = factsOfName(await resolveTarget(path).catch(() => path));
  return target.format || target.compression ? target : own;
}
