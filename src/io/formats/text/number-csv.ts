/** Writes numbers as CSV in this process, by the addon if it is loaded. The text is the same as that of a subprocess. */
import { elementsOf, keyWords } from '../../../keys/array.js';
import { type Dtype, dtypeInfo } from '../../../keys/dtype.js';
import { nonFiniteText } from '../../../keys/value.js';
import { tableFunctions } from '../../../sort/host/native-tables.js';
import type { Output } from '../../streams/output.js';
import type { KeyFacts, KeyWriter, WriteOptions } from '../key-file.js';
import { BATCH_ROWS } from '../subprocess/protocol.js';

/** Names and delimiters for which no field needs quotes. */
const PLAIN_NAME = /^[A-Za-z_]\w*$/;
const PLAIN_DELIMITERS = [',', ';', '|', '\t'];

/** Floats with exponents from -4 to 15 are written without one. */
const [MIN_EXPONENT, MAX_EXPONENT] = [-4, 15];

/** Dtypes whose shortest text DuckDB does not write. */
const OTHERS: readonly Dtype[] = ['f16', 'bf16', 'f32'];

/** Returns whether this process writes the keys. */
export const isNumberCsv = (
  { dtype, column }: Pick<KeyFacts, 'dtype'> & { readonly column: string },
  delimiter: string,
): boolean => !OTHERS.includes(dtype) && PLAIN_NAME.test(column) && PLAIN_DELIMITERS.includes(delimiter);

/** Returns the writer of a column of numbers. */
export function numberCsvWriter(
  output: Output,
  { dtype, column }: Pick<KeyFacts, 'dtype'> & { readonly column: string },
  { header = true }: Pick<WriteOptions, 'header'>,
): KeyWriter {
  let head = header ? `${column}\n` : '';
  const writeHead = async (): Promise<void> => {
    if (head !== '') await output.write(Buffer.from(head));
    head = '';
  };
  return {
    async write(piece) {
      await writeHead();
      const { bytes } = dtypeInfo(dtype);
      for (let at = 0; at < piece.length; at += BATCH_ROWS * bytes) {
        await output.write(linesOf(piece.subarray(at, at + BATCH_ROWS * bytes), dtype));
      }
    },
    end: writeHead,
  };
}

function linesOf(numbers: Uint8Array, dtype: Dtype): Uint8Array {
  const native = tableFunctions();
  if (native) return native.writeNumbers(numbers, dtypeInfo(dtype));
  return Buffer.from(
    Array.from(numbersOf(numbers, dtype), (number) => `${numberText(number, dtype)}\n`).join(''),
  );
}

const numbersOf = (bytes: Uint8Array, dtype: Dtype): Iterable<number | bigint> =>
  elementsOf(keyWords(bytes, dtypeInfo(dtype)), dtype) as unknown as Iterable<number | bigint>;

/** Returns the text of a number; of an f64, the shortest that identifies it. */
export const numberText = (number: number | bigint, dtype: Dtype): string =>
  typeof number === 'number' && dtypeInfo(dtype).kind === 'float' ? floatText(number) : `${number}`;

/** The text has a point or an exponent. */
function floatText(number: number): string {
  const special = nonFiniteText(number);
  if (special) return special;
  if (Object.is(number, -0)) return '-0.0';
  const [digits = '', power = ''] = number.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= MIN_EXPONENT && exponent <= MAX_EXPONENT) {
    return Number.isInteger(number) ? `${number}.0` : `${number}`;
  }
  return `${digits}e${exponent < 0 ? '-' : '+'}${`${Math.abs(exponent)}`.padStart(2, '0')}`;
}
