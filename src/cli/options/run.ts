/** Options of verbs that work on a device and report the result. */
import type { Argv } from 'yargs';
import { type DeviceArguments, withDevice } from './device.js';
import { flag } from './kinds.js';

export interface RunArguments extends DeviceArguments {
  readonly json: boolean;
}

/** Adds --device and --json. */
export const withRun = <T>(yargs: Argv<T>) =>
  withDevice(yargs).option('json', flag('print the report as JSON'));
