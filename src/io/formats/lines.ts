/** Numbers as text, one a line. */
import { elementsOf, keyWords } from '../../keys/array.js';
import { type Dtype, dtypeInfo, isHalf } from '../../keys/dtype.js';
import { halfDecoder, nonFiniteText } from '../../keys/value.js';
import { DtypeError, UsageError } from '../../util/errors.js';
import { withAdvice } from '../../util/invalid-argument.js';
import type { KeyFormat } from './key-file.js';
import type { SubprocessKind } from './subprocess/subprocess-kind.js';

/** A table of one column: no line of text has the delimiter. */
const KIND: SubprocessKind = { id: 'lines', format: 'csv', isText: true, delimiter: '\0' };

/** Numbers, one a line, read as a CSV file of one column without a header is. */
export const lines: KeyFormat = {
  id: KIND.id,
  name: 'lines of text',
  extensions: ['lines', 'txt'],
  compressible: true,
  isText: true,
  async open(source, request) {
    for (const name of ['column', 'delimiter', 'header'] as const) {
      if (request[name] === undefined) continue;
      throw new UsageError(
        `cannot use ${name} for ${source.name}: its format is lines, one number each. Pass --format csv to read columns`,
      );
    }
    const { openTextKeys } = await import('./text/text-keys.js');
    const {
      text: _,
      column,
      ...reader
    } = await openTextKeys(KIND, source, { ...request, header: false }).catch((error) => {
      if (!(error instanceof DtypeError)) throw error;
      const message = withAdvice(
        error.message,
        'Its format is lines, one number each; --format csv reads a table',
      );
      throw new DtypeError(message, { cause: error, details: error.details });
    });
    return reader;
  },
  async create(output, { dtype }) {
    const textOf = textsOf(dtype);
    return { write: (piece) => output.write(Buffer.from(textOf(piece))), end: async () => undefined };
  },
};

/** Returns the function that writes keys as lines. Numbers are the shortest that are read back as the same key. */
function textsOf(dtype: Dtype): (piece: Uint8Array) => string {
  const info = dtypeInfo(dtype);
  const half = halfDecoder(info);
  const numberOf = (key: number | bigint): string => {
    if (typeof key === 'bigint') return String(key);
    const value = isHalf(info) ? half(key) : key;
    if (Object.is(value, -0)) return '-0.0';
    return nonFiniteText(value) ?? String(dtype === 'f32' ? shortestFloat32(value) : value);
  };
  return (piece) => {
    const words = keyWords(piece, info);
    const keys: Iterable<number | bigint> = isHalf(info) ? words : elementsOf(words, dtype);
    return Array.from(keys, (key) => `${numberOf(key)}\n`).join('');
  };
}

/** Returns the double with the fewest digits that rounds to a single; 9 digits always suffice. */
function shortestFloat32(single: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) return short;
  }
  return single;
}
