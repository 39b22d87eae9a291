import type { KeyFormat } from './key-file.js';
import { latin1 } from './latin1.js';
import { createKeysBy, openKeysBy } from './subprocess/subprocess-keys.js';
import type { BinaryKind } from './subprocess/subprocess-kind.js';

const KIND: BinaryKind = { id: 'parquet', format: 'parquet', isText: false };

/** Parquet, via `parquet-wasm`, which decodes to Arrow. */
export const parquet: KeyFormat = {
  id: KIND.id,
  subprocess: KIND,
  name: 'a Parquet file',
  extensions: ['parquet', 'pq'],
  compressible: false,
  matches: (head, tail) =>
    ['PAR1', 'PARE'].includes(latin1(head, 0, 4)) &&
    (tail === undefined ? head[4] === 0x15 : /PAR[1E]$/.test(latin1(tail))),
  open: openKeysBy(KIND),
  async maxKeys({ fd, bytes = 0 }) {
    if (fd === undefined) return bytes;
    const [{ fileSource }, { ParquetFooter }] = await Promise.all([
      import('./subprocess/byte-source.js'),
      import('./subprocess/tables/parquet-footer.js'),
    ]);
    return ParquetFooter.read(fileSource(fd)).footer.rows;
  },
  create: createKeysBy(KIND),
};
