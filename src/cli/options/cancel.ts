import type { Argv } from 'yargs';
import { type FolderArguments, type RedisArguments, withRedis, withWorkersFolder } from './engine.js';

export interface CancelArguments extends RedisArguments, FolderArguments {
  readonly id: string;
}

export const builder = (yargs: Argv) =>
  withWorkersFolder(withRedis(yargs), 'the current one')
    .positional('id', {
      type: 'string',
      demandOption: true,
      describe: 'job ID, as printed when the job started',
    })
    .group(['workers-folder', 'redis', 'queue'], 'Job:')
    .example('$0 cancel 0123456789ab', 'uses the current folder and CLSORT_REDIS_URL');
