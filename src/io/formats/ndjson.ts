import type { KeyFormat } from './key-file.js';
import { createKeysBy } from './subprocess/subprocess-keys.js';
import type { SubprocessKind } from './subprocess/subprocess-kind.js';

const KIND: SubprocessKind = { id: 'ndjson', format: 'ndjson', isText: true };

/** JSON lines: one object or one number per line. DuckDB writes the keys. */
export const ndjson: KeyFormat = {
  id: KIND.id,
  subprocess: KIND,
  isText: true,
  name: 'NDJSON text',
  extensions: ['ndjson', 'jsonl'],
  compressible: true,
  decompressesItself: true,
  open: async (source, request) => (await import('./text/text-keys.js')).openTextKeys(KIND, source, request),
  maxKeys: async ({ bytes = 0 }) => Math.ceil(bytes / 2), // a line has a digit and an end
  create: createKeysBy(KIND),
};
