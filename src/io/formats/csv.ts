import { UsageError } from '../../util/errors.js';
import { createBy, type ForeignKind, openBy } from './foreign/foreign.js';
import type { KeyFormat } from './key-file.js';

/** Longest delimiter that DuckDB knows, in bytes. */
const MOST_DELIMITER_BYTES = 4;

/** @throws UsageError for what cannot stand between columns */
export function assertDelimiter(delimiter: string | undefined): void {
  if (delimiter === undefined) return;
  const bytes = Buffer.byteLength(delimiter);
  if (bytes >= 1 && bytes <= MOST_DELIMITER_BYTES && !/[\0\r\n"]/.test(delimiter)) return;
  throw new UsageError(
    `the delimiter ${JSON.stringify(delimiter)} cannot stand between columns: expected one to ` +
      `${MOST_DELIMITER_BYTES} bytes, without quotes and ends of lines`,
  );
}

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
