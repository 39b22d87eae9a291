import { createBy, type ForeignKind, openBy } from './foreign/foreign.js';
import type { KeyFormat } from './key-file.js';

const KIND: ForeignKind = { id: 'ndjson', format: 'ndjson', isText: true };

/** Lines of JSON: objects with the same keys, or numbers alone, by DuckDB's reader and writer. */
export const ndjson: KeyFormat = {
  id: KIND.id,
  foreign: KIND,
  name: 'NDJSON text',
  extensions: ['ndjson', 'jsonl'],
  compressible: true,
  unpacksItself: true,
  open: openBy(KIND),
  create: createBy(KIND),
};
