import { writeFileSync } from 'node:fs';
import { Device } from '../../device/device.js';
import { explainSort } from '../../explain/explain.js';
import type { Explained } from '../../explain/explained.js';
import { explanationHtml } from '../../explain/html.js';
import { explanationText } from '../../explain/text.js';
import { dtypeInfo } from '../../keys/dtype.js';
import { IoError } from '../../util/errors.js';
import { type Console, print, say } from '../console.js';
import { readDevice } from '../device-arguments.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { ExplainArguments } from '../options/explain.js';

export async function run(args: ExplainArguments, console: Console): Promise<ExitCode> {
  const { keys, algorithm, bits, 'radix-bits': radixBits, descending, dtype, json, html } = args;
  const device = await Device.open(readDevice(args.device, 'explain').id);
  try {
    const explanation = await explainSort(device, keys, {
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
