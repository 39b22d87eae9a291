import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withRedis, withWorkersFolder } from './engine.js';
import { flag, required } from './kinds.js';

export const builder = (yargs: Argv) =>
  withWorkersFolder(withRedis(yargs), 'the current one')
    .positional('id', required('job ID, as printed when the job started'))
    .option('json', flag('print the progress as JSON'))
    .group(['workers-folder', 'redis', 'queue'], 'Job:')
    .group(['json'], 'Output:')
    .example('$0 status 0123456789ab', 'uses the current folder and CLSORT_REDIS_URL')
    .epilogue('The exit code is 0 if the job is complete, and 1 if it is not.');

export type StatusArguments = ArgumentsOf<typeof builder>;
