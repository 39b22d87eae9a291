import { writeFileSync } from 'node:fs';
import { explain, MAX_KEYS } from '../../explain/explain.js';
import type { Explained } from '../../explain/explained.js';
import { explanationHtml } from '../../explain/html.js';
import { randomWords } from '../../explain/random.js';
import { explanationText } from '../../explain/text.js';
import { ioError } from '../../io/streams/raw.js';
import { dtypeInfo } from '../../keys/dtype.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { openDevice } from '../../sort/backend/first-build.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { readCount, readSeed } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { readDevice } from '../device-arguments.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { cannotCombine, cannotUseWithout } from '../option-errors.js';
import type { ExplainArguments } from '../options/explain.js';

/**
 * Parses a bit window: `A:B`, or `B` for the lowest B bits.
 *
 * @throws UsageError when it is malformed
 */
function readWindow(text: string): number | readonly [number, number] {
  const match = /^(?:(\d+):)?(\d+)$/.exec(text);
  if (!match) throw invalidArgument('--bits', 'A:B (such as 4:8), or B for the lowest B bits', text);
  return match[1] === undefined ? Number(match[2]) : [Number(match[1]), Number(match[2])];
}

/**
 * Returns the keys of the command line, or random keys with `--random`.
 *
 * @throws UsageError when both are given, or when `--random` is out of range
 */
function readWords({ keys = [], random, max, seed, dtype }: ExplainArguments): readonly string[] {
  if (random === undefined) {
    if (max !== undefined)
      throw cannotUseWithout('--max', '--random', 'it limits random keys', 'Pass --random 16');
    return keys;
  }
  if (keys.length > 0) throw cannotCombine('keys', '--random', 'both define the keys');
  const count = readCount(random, '--random');
  if (count > MAX_KEYS) throw invalidArgument('--random', `at most ${MAX_KEYS} keys`, random);
  const maxValue = max === undefined ? undefined : readCount(max, '--max');
  const type = dtype === undefined ? undefined : dtypeInfo(dtype).name;
  return randomWords(count, { max: maxValue, seed: readSeed(seed), dtype: type });
}

export async function run(args: ExplainArguments, console: Console): Promise<ExitCode> {
  const {
    algorithm,
    step,
    bits,
    'radix-bits': radixBits,
    scan,
    op,
    pairs,
    descending,
    dtype,
    json,
    html,
  } = args;
  const words = readWords(args);
  const window = bits === undefined ? undefined : readWindow(bits);
  const device = await openDevice(readDevice(args.device, 'explain').id);
  try {
    const explanation = await explain(device, words, {
      ...{ algorithm: algorithm as Explained, descending, pairs },
      ...(step !== undefined && { step }),
      ...(window !== undefined && { bits: window }),
      ...(radixBits !== undefined && { radixBits }),
      ...(scan !== undefined && { scan: scan === '3' ? 3 : 5 }),
      ...(op !== undefined && { op: op as ReduceOp }),
      ...(dtype !== undefined && { dtype: dtypeInfo(dtype).name }),
    });
    if (html !== undefined) {
      try {
        writeFileSync(html, explanationHtml(explanation));
      } catch (cause) {
        throw ioError('write', html, cause);
      }
      say(console, `wrote ${html}: open it in a browser, and step with the arrow keys`);
    }
    if (json) print(console, JSON.stringify(explanation, null, 2));
    else if (html === undefined) print(console, explanationText(explanation));
    return EXIT.ok;
  } finally {
    await device.close();
  }
}
