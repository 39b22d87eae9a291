/** The `--device` option, with the same meaning in all verbs. */
import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';

/**
 * Adds --device.
 *
 * @param unnamed the default
 * @param words whether all words up to the next option are devices; not where file names may follow
 */
export const withDevice = <T>(yargs: Argv<T>, { unnamed = 'auto', words = false } = {}) =>
  yargs.option('device', {
    type: 'string',
    array: true,
    ...(!words && { nargs: 1 }),
    describe: `auto, cpu, gpu, host, all, P:D or part of a name; comma-separated or repeated; default ${unnamed}`,
  });

/** Each element of `device`, as given, may hold several specs, separated by commas. */
export type DeviceArguments = ArgumentsOf<typeof withDevice<object>>;
