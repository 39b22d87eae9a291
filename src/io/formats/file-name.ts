/** What the name of a file says about its keys: `prices.f64be.gz` is raw, f64, big-endian, behind gzip. */
import { dtypeOfName, type NamedDtype } from '../../keys/dtype-name.js';
import { COMPRESSIONS, type Compression } from '../compression.js';
import { resolveTarget } from '../resolve-target.js';
import { extensionOf, type FileFormat, formatOfName } from './format.js';
import { raw } from './raw.js';

export interface NameFacts {
  /** The name that says so: the path, or what it is linked to. */
  readonly name: string;
  /** Undefined where the extension is none that is known. */
  readonly format: FileFormat | undefined;
  /** Of raw keys. */
  readonly named: NamedDtype | undefined;
  readonly compression: Compression | undefined;
}

/** What a name says by itself. */
export function factsOfName(name: string): NameFacts {
  const last = extensionOf(name);
  const compression = COMPRESSIONS.find(({ extension }) => extension === last);
  const inner = compression ? name.slice(0, -last.length - 1) : name;
  const named = dtypeOfName(extensionOf(inner));
  return { name, named, compression, format: named ? raw : formatOfName(inner) };
}

/** What a path says, or, where it says nothing, the name of what it is linked to. */
export async function nameFacts(path: string): Promise<NameFacts> {
  const own = factsOfName(path);
  if (own.format || own.compression) return own;
  const target = factsOfName(await resolveTarget(path).catch(() => path));
  return target.format || target.compression ? target : own;
}
