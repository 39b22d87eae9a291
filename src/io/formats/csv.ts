import { assertDelimiter } from '../text/text-options.js';
import { createBy, type ForeignKind, openBy } from './foreign/foreign.js';
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
    return openBy(kind)(source, request);
  },
  async create(output, facts, options) {
    assertDelimiter(options.delimiter);
    return createBy(kind)(output, facts, options);
  },
});

/** Text with columns between commas or another delimiter, by DuckDB's reader and writer. */
export const csv: KeyFormat = formatOf({ id: 'csv', format: 'csv', isText: true });

/** Text with columns between tabs, by DuckDB's reader and writer. */
export const tsv: KeyFormat = formatOf({ id: 'tsv', format: 'csv', isText: true, delimiter: '\t' });
