import { dtypeInfo } from '../keys/dtype.js';
import type { SortOptions } from '../sort/api/options.js';
import { UsageError } from '../util/errors.js';
import type { KeyReader } from './formats/key-file.js';

/** Bytes at the beginning of a file that are looked at. */
const LOOKED_AT = 4096;
/** Keys of fewer bits may well look like text. */
const MIN_WIDTH = 32;

const NUMBERS = /^[\d\s.,;+\-eE]*$/;

/** Are bytes numbers in lines of text? */
const isText = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes).toString('latin1');
  return text.includes('\n') && /\d/.test(text) && NUMBERS.test(text);
};

/** Warns of a file of raw keys that is numbers as text, too little of it for its format to be refused as text. */
export async function warnOfText(
  { name, format, dtype, n, readAt }: KeyReader,
  { onWarning }: Pick<SortOptions, 'onWarning'>,
): Promise<void> {
  const { bytes, width } = dtypeInfo(dtype);
  if (!onWarning || format !== 'raw' || width < MIN_WIDTH || n === undefined || n === 0 || !readAt) return;
  const head = new Uint8Array(Math.min(LOOKED_AT, n * bytes));
  await readAt(head, 0);
  if (!isText(head)) return;
  onWarning(
    new UsageError(
      `${name} begins with numbers as text, and its bytes are sorted as ${dtype} keys: read text with --format csv`,
    ),
  );
}
