import type { KeyFormat } from './key-file.js';
import { createKeysBy } from './subprocess/subprocess-keys.js';
import type { SubprocessKind } from './subprocess/subprocess-kind.js';
import { assertDelimiter } from './text/text-options.js';

const formatOf = (kind: SubprocessKind): KeyFormat => ({
  id: kind.id,
  subprocess: kind,
  isText: true,
  name: `${kind.id.toUpperCase()} text`,
  extensions: [kind.id],
  compressible: true,
  decompressesItself: true,
  async open(source, request) {
    assertDelimiter(request.delimiter);
    return (await import('./text/text-keys.js')).openTextKeys(kind, source, request);
  },
  async create(output, facts, options) {
    assertDelimiter(options.delimiter);
    return createKeysBy(kind)(output, facts, options);
  },
});

/** Text with comma-separated columns, or with another delimiter. DuckDB writes the keys, unless they are few. */
export const csv: KeyFormat = formatOf({ id: 'csv', format: 'csv', isText: true });

/** Text with tab-separated columns. DuckDB writes the keys, unless they are few. */
export const tsv: KeyFormat = formatOf({ id: 'tsv', format: 'csv', isText: true, delimiter: '\t' });
