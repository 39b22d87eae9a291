import { assertDelimiter } from '../text/text-options.js';
import { createBy, type ForeignKind } from './foreign/foreign.js';
import type { KeyFormat } from './key-file.js';

const formatOf = (kind: ForeignKind): KeyFormat => ({
  id: kind.id,
  foreign: kind,
  name: `${kind.id.toUpperCase()} text`,
  extensions: [kind.id],
  compressible: true,
  unpacksItself: true,
  async open(source, request) {
    assertDelimiter(request.delimiter);
    return (await import('../text/text-keys.js')).openTextKeys(kind, source, request);
  },
  async create(output, facts, options) {
    assertDelimiter(options.delimiter);
    return createBy(kind)(output, facts, options);
  },
});

/** Text with columns between commas or another delimiter. Keys are written by DuckDB. */
export const csv: KeyFormat = formatOf({ id: 'csv', format: 'csv', isText: true });

/** Text with columns between tabs. Keys are written by DuckDB. */
export const tsv: KeyFormat = formatOf({ id: 'tsv', format: 'csv', isText: true, delimiter: '\t' });
