import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { flag, word } from './kinds.js';

export const builder = (yargs: Argv) =>
  yargs
    .option('json', flag('print the findings as JSON'))
    .option('child', { ...word(''), hidden: true })
    .example('$0 doctor', 'drivers, devices, permissions, caches, and a self-test of each device')
    .epilogue('Exit code 0: a device passed its self-test; 3: no device; 4: the addon or a device failed.');

export type DoctorArguments = ArgumentsOf<typeof builder>;
