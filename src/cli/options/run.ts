/** Options of verbs that work on a device and report the result. */
import type { Argv } from 'yargs';
import { type DeviceArguments, withDevice } from './device.js';

export interface RunArguments extends DeviceArguments {
  readonly json: boolean;
}

/** Adds --device and --json. */
export const withRun = <T>(yargs: Argv<T>) =>
  withDevice(yargs).option('json', { type: 'boolean', default: false, describe: 'print the report as JSON' });
