import type { Device } from '../device/device.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import { UsageError } from '../util/errors.js';
import { explainBitonic, explainMerge, explainOddEven } from './comparisons.js';
import type { Explained } from './explained.js';
import { agree, type Explanation, type Step } from './explanation.js';
import { guessDtype, parseKey } from './keys.js';
import { explainAmd, explainSplit } from './radix.js';
import { type Subject, startOf, texts, windowOf } from './record.js';
import { explainRow } from './row.js';

export interface ExplainOptions {
  readonly algorithm?: Explained;
  readonly dtype?: Dtype;
  readonly descending?: boolean;
  /** The window of the code is [0, bits); default: the whole code. */
  readonly bits?: number;
  /** Bits of a digit of `split`, 1 to 4. */
  readonly radixBits?: number;
}

const WALKS: Readonly<
  Record<Explained, (device: Device, subject: Subject, radixBits?: number) => Promise<Step[]>>
> = {
  split: explainSplit,
  amd: explainAmd,
  bitonic: explainBitonic,
  'odd-even': explainOddEven,
  merge: explainMerge,
  row: explainRow,
};

/**
 * Runs a sort on a device stage by stage and says what each stage did.
 *
 * @param words the keys, as people write them
 * @throws MismatchError when any number that the device wrote differs from the model; UsageError
 */
export async function explainSort(
  device: Device,
  words: readonly string[],
  {
    algorithm = 'split',
    dtype = guessDtype(words),
    descending = false,
    bits,
    radixBits,
  }: ExplainOptions = {},
): Promise<Explanation> {
  const info = dtypeInfo(dtype);
  if (words.length === 0) throw new UsageError('no keys: name the keys to be sorted');
  const end = bits ?? info.width;
  if (!Number.isInteger(end) || end < 0 || end > info.width) {
    throw new UsageError(`--bits is ${end}: expected 0 to ${info.width}, the bits of ${dtype}`);
  }
  if (radixBits !== undefined && (algorithm === 'amd' ? radixBits !== 8 : algorithm !== 'split')) {
    throw new UsageError(`--radix-bits is for split (1 to 4); the digits of amd have 8 bits`);
  }
  const codec = keyCodec(dtype, { descending });
  const patterns = words.map((word) => parseKey(word, dtype));
  const subject: Subject = { codec, info, patterns, bits: [0, end] };
  const steps = await WALKS[algorithm](device, subject, radixBits);
  const { codes } = startOf(subject);
  const keys = texts(codes, subject);
  const sortedCodes = codes.toSorted((a, b) => {
    const [x, y] = [windowOf(a, subject.bits), windowOf(b, subject.bits)];
    return x < y ? -1 : x > y ? 1 : 0;
  });
  const sorted = texts(sortedCodes, subject);
  const last = steps.at(-1)?.after ?? keys;
  agree(
    'the sorted keys',
    last.map((text) => parseKey(text, dtype)),
    sorted.map((text) => parseKey(text, dtype)),
  );
  return {
    schema: 'clsort.explain/1',
    algorithm,
    device: device.info.name,
    dtype,
    descending,
    bits: subject.bits,
    keys,
    sorted: last,
    steps,
  };
}
