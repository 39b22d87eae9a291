import { dtypeInfo } from '../../keys/dtype.js';
import type { SortOptions } from '../../sort/model/options.js';
import { UsageError } from '../../util/errors.js';
import type { KeyReader } from '../formats/key-file.js';

/** Number of leading bytes that are examined. */
const LOOKED_AT = 4096;
/** Minimum key width in bits; narrower keys may look like text by chance. */
const MIN_WIDTH = 32;

const NUMBERS = /^[\d\s.,;+\-eE]*$/;

/** Whether bytes are lines of numbers as text. */
const isText = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes).toString('latin1');
  return text.includes('\n') && /\d/.test(text) && NUMBERS.test(text);
};

/** Warns when raw keys look like numbers as text, but too few to be detected as a text format. */
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
      `${name} begins with numbers as text, but its bytes are sorted as ${dtype} keys. Use --format lines or csv to read text`,
    ),
  );
}
