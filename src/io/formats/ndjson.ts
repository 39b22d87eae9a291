import type { KeyFormat } from './key-file.js';
import { createKeysBy, type SubprocessKind } from './subprocess/subprocess-kind.js';

const KIND: SubprocessKind = { id: 'ndjson', format: 'ndjson', isText: true };

/** Lines of JSON: objects, or numbers alone. Keys are written by DuckDB. */
export const ndjson: KeyFormat = {
  id: KIND.id,
  subprocess: KIND,
  name: 'NDJSON text',
  extensions: ['ndjson', 'jsonl'],
  compressible: true,
  decompressesItself: true,
  open: async (source, request) => (await import('../text/text-keys.js')).openTextKeys(KIND, source, request),
  create: createKeysBy(KIND),
};
