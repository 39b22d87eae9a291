/** Options of verbs that work on a device and tell what was done. */
import type { Argv } from 'yargs';

export interface RunArguments {
  readonly device: string;
  readonly json: boolean;
}

/** Adds --device and --json. */
export const withRun = <T>(yargs: Argv<T>) =>
  yargs
    .option('device', {
      type: 'string',
      default: 'auto',
      describe: 'auto, cpu, gpu, host, P:D or a part of a name',
    })
    .option('json', { type: 'boolean', default: false, describe: 'what was done as JSON' });
