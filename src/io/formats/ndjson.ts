import { type ForeignKind, openForeign } from './foreign/foreign-reader.js';
import { createForeign } from './foreign/foreign-writer.js';
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
  open: (source, request) => openForeign(KIND, source, request),
  create: (output, facts, options) => createForeign(KIND, output, facts, options),
};
