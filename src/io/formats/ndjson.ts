import { createBy, type ForeignKind } from './foreign/foreign.js';
import type { KeyFormat } from './key-file.js';

const KIND: ForeignKind = { id: 'ndjson', format: 'ndjson', isText: true };

/** Lines of JSON: objects, or numbers alone. Keys are written by DuckDB. */
export const ndjson: KeyFormat = {
  id: KIND.id,
  foreign: KIND,
  name: 'NDJSON text',
  extensions: ['ndjson', 'jsonl'],
  compressible: true,
  unpacksItself: true,
  open: async (source, request) => (await import('../text/text-keys.js')).openTextKeys(KIND, source, request),
  create: createBy(KIND),
};
