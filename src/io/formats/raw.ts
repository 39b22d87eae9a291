/** Raw keys: contiguous key bytes without a header. The caller supplies dtype and byte order. */
import { dtypeInfo } from '../../keys/dtype.js';
import { UsageError } from '../../util/errors.js';
import { swapBytes, swapPieces } from '../streams/byte-order.js';
import type { KeyFormat } from './key-file.js';

/** Raw keys. The extensions are dtype names, which `file-name.ts` parses. */
export const raw: KeyFormat = {
  id: 'raw',
  name: 'raw keys',
  extensions: [],
  compressible: true,
  async open(source, { dtype, bigEndian = false, column }) {
    if (dtype === undefined) {
      throw new UsageError(
        `cannot read ${source.name}: the dtype of its keys is unknown. Pass --dtype (dtype in a batch and in the ` +
          'library), such as f64 or u32be, or use an extension such as .f64',
      );
    }
    if (column !== undefined) {
      throw new UsageError(`cannot use column ${column} of ${source.name}: raw keys have no columns`);
    }
    const info = dtypeInfo(dtype);
    const isSwapped = bigEndian && info.bytes > 1;
    const n = source.bytes === undefined ? undefined : source.bytes / info.bytes;
    if (n !== undefined) source.assertWhole(info.bytes);
    const { readAt } = source;
    const readSwapped: typeof readAt = async (into, position) => {
      await readAt?.(into, position);
      swapBytes(into, info);
    };
    return {
      name: source.name,
      format: 'raw',
      dtype,
      n,
      shape: n === undefined ? undefined : [n],
      bigEndian: isSwapped,
      plainAt: readAt && !isSwapped ? 0 : undefined,
      file: isSwapped ? undefined : source,
      readAt: readAt && isSwapped ? readSwapped : readAt,
      pieces: () => (isSwapped ? swapPieces(source.pieces(info.bytes), info) : source.pieces(info.bytes)),
      close: () => source.close(),
    };
  },
  async create(output, { dtype }, { bigEndian = false }) {
    const info = dtypeInfo(dtype);
    return {
      writeBy: bigEndian && info.bytes > 1 ? undefined : output.writeBy,
      async write(piece) {
        if (!bigEndian || info.bytes === 1) return output.write(piece);
        const swappedPiece = piece.slice();
        swapBytes(swappedPiece, info);
        await output.write(swappedPiece);
      },
      end: async () => undefined,
    };
  },
  bytes: ({ dtype, n }) => (n === undefined ? undefined : n * dtypeInfo(dtype).bytes),
};
