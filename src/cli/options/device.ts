/** The option that says on what devices a verb works, which has one meaning in all of them. */
import type { Argv } from 'yargs';

export interface DeviceArguments {
  /** As they were given: each may be several, with commas between. */
  readonly device: readonly string[] | undefined;
}

/**
 * Adds --device.
 *
 * @param unnamed what is taken where none is named
 * @param words whether all words up to the next option are devices: not where files may follow
 */
export const withDevice = <T>(yargs: Argv<T>, { unnamed = 'auto', words = false } = {}) =>
  yargs.option('device', {
    type: 'string',
    array: true,
    ...(!words && { nargs: 1 }),
    describe: `auto, cpu, gpu, host, all, P:D or a part of a name; several with commas, or repeated; default ${unnamed}`,
  });
