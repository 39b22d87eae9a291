import { writeFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import { Device } from '../../device/device.js';
import { EXPLAINED, type Explained, explainSort } from '../../explain/explain.js';
import { explanationHtml } from '../../explain/html.js';
import { explanationText } from '../../explain/text.js';
import { DTYPES, dtypeInfo } from '../../keys/dtype.js';
import { IoError, UsageError } from '../../util/errors.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';

export const command = 'explain [keys..]';
export const describe = 'Show how a sort works, stage by stage, with numbers from the device';

export interface ExplainArguments {
  readonly keys: readonly string[] | undefined;
  /** The command's name, and what stands behind `--`. */
  readonly _: readonly (string | number)[];
  readonly algorithm: string;
  readonly bits: number | undefined;
  readonly 'radix-bits': number | undefined;
  readonly descending: boolean;
  readonly dtype: string | undefined;
  readonly device: string;
  readonly json: boolean;
  readonly html: string | undefined;
}

export const builder = (yargs: Argv) =>
  yargs
    // Several keys are several values of one argument, and '-0' is another key than '0'.
    .parserConfiguration({ 'duplicate-arguments-array': true, 'parse-positional-numbers': false })
    .positional('keys', { type: 'string', array: true, describe: 'the keys to sort, at least one' })
    .option('algorithm', {
      type: 'string',
      choices: [...EXPLAINED],
      default: 'split',
      describe: 'which sort',
    })
    .option('bits', { type: 'number', describe: 'sort by the lowest BITS bits of the code only' })
    .option('radix-bits', { type: 'number', describe: 'bits of a digit of split, 1 to 4' })
    .option('descending', { type: 'boolean', default: false, describe: 'largest key first' })
    .option('dtype', { type: 'string', describe: `${DTYPES.join(' ')}; by default as the keys look` })
    .option('device', {
      type: 'string',
      default: 'auto',
      describe: 'auto, cpu, gpu, P:D or a part of a name',
    })
    .option('json', { type: 'boolean', default: false, describe: 'print the data as JSON' })
    .option('html', { type: 'string', nargs: 1, describe: 'write a page to walk through in a browser' })
    .example('$0 explain --descending -- -inf -0 nan', "keys that begin like options stand behind '--'")
    .example('$0 explain 7 14 4 1 --bits 4', 'four keys, bit by bit')
    .example('$0 explain 3 1 2 --algorithm bitonic', 'the comparators of a network');

export async function run(args: ExplainArguments, console: Console): Promise<ExitCode> {
  const { algorithm, bits, 'radix-bits': radixBits, descending, dtype, json, html } = args;
  // yargs does not count what stands behind '--', so that it cannot demand keys.
  const words = [...(args.keys ?? []), ...args._.slice(1)].map(String);
  if (words.length === 0) throw new UsageError("no keys to explain: expected some, such as '7 14 4 1'");
  const device = await Device.open(args.device);
  try {
    const explanation = await explainSort(device, words, {
      algorithm: algorithm as Explained,
      descending,
      ...(bits !== undefined && { bits }),
      ...(radixBits !== undefined && { radixBits }),
      ...(dtype !== undefined && { dtype: dtypeInfo(dtype).name }),
    });
    if (html !== undefined) {
      try {
        writeFileSync(html, explanationHtml(explanation));
      } catch (cause) {
        throw new IoError(`cannot write ${html}: ${(cause as Error).message}`, { cause });
      }
      say(console, `wrote ${html}: open it in a browser and walk with the arrow keys`);
    }
    if (json) print(console, JSON.stringify(explanation, null, 2));
    else if (html === undefined) print(console, explanationText(explanation));
    return EXIT.ok;
  } finally {
    await device.close();
  }
}
