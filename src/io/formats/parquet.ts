import { DtypeError } from '../../util/errors.js';
import { createBy, type ForeignKind, openBy } from './foreign/foreign.js';
import type { KeyFormat } from './key-file.js';
import { latin } from './latin.js';

const KIND: ForeignKind = { id: 'parquet', format: 'parquet', isText: false };

/** Parquet, by DuckDB's reader and writer. Halves are read; DuckDB does not write them. */
export const parquet: KeyFormat = {
  id: KIND.id,
  foreign: KIND,
  name: 'a Parquet file',
  extensions: ['parquet', 'pq'],
  compressible: false,
  matches: (head, tail) =>
    ['PAR1', 'PARE'].includes(latin(head, 0, 4)) &&
    (tail === undefined ? head[4] === 0x15 : /PAR[1E]$/.test(latin(tail))),
  open: openBy(KIND),
  async create(output, facts, options) {
    if (facts.dtype === 'f16') {
      throw new DtypeError(
        `f16 keys cannot be written to ${output.name}: DuckDB writes no halves to Parquet; write them as Arrow or as text`,
        { details: { path: output.name, dtype: facts.dtype } },
      );
    }
    return createBy(KIND)(output, facts, options);
  },
};
