import { type BinaryKind, createBy, openBy } from './foreign/foreign.js';
import type { KeyFormat } from './key-file.js';
import { latin } from './latin.js';

const KIND: BinaryKind = { id: 'parquet', format: 'parquet', isText: false };

/** Parquet, by `parquet-wasm`, which decodes to Arrow. */
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
  create: createBy(KIND),
};
