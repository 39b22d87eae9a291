import type { Argv } from 'yargs';
import { devices } from '../../index.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { bytesText, table } from '../table.js';

export const command = 'devices';
export const describe = 'List the OpenCL devices of this machine';

export const builder = (yargs: Argv) =>
  yargs
    .option('json', { type: 'boolean', default: false, describe: 'print { schema, devices } as JSON' })
    .example('$0 devices', 'ids and names for --device');

export async function run({ json }: { readonly json: boolean }, console: Console): Promise<ExitCode> {
  const found = await devices();
  if (json) {
    print(console, JSON.stringify({ schema: 'clsort.devices/1', devices: found }, null, 2));
    return EXIT.ok;
  }
  const rows = found.map(({ id, type, name, platform, driver, version, computeUnits, globalBytes }) => [
    id,
    type,
    name,
    platform,
    driver,
    version,
    String(computeUnits),
    bytesText(globalBytes),
  ]);
  const heading = ['id', 'type', 'name', 'platform', 'driver', 'OpenCL', 'units', 'memory'];
  const align = ['left', 'left', 'left', 'left', 'left', 'left', 'right', 'right'] as const;
  print(console, table([heading, ...rows], align));
  return EXIT.ok;
}
