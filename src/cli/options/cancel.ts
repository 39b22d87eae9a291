import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withRedis, withWorkersFolder } from './engine.js';
import { required } from './kinds.js';

export const builder = (yargs: Argv) =>
  withWorkersFolder(withRedis(yargs), 'the current one')
    .positional('id', required('job ID, as printed when the job started'))
    .group(['workers-folder', 'redis', 'queue'], 'Job:')
    .example('$0 cancel 0123456789ab', 'uses the current folder and CLSORT_REDIS_URL');

export type CancelArguments = ArgumentsOf<typeof builder>;
