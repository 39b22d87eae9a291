/** Options of verbs that work on a device and report the result. */
import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { flag } from './kinds.js';

/** Adds --device and --json. */
export const withRun = <T>(yargs: Argv<T>) =>
  withDevice(yargs).option('json', flag('print the report as JSON'));

export type RunArguments = ArgumentsOf<typeof withRun<object>>;
