import type { Argv } from 'yargs';
import { type FolderArguments, type RedisArguments, withRedis, withWorkersFolder } from './engine.js';

export const command = 'cancel <id>';
export const describe = 'Give up a sort over many machines, and remove what is kept of it';

export interface CancelArguments extends RedisArguments, FolderArguments {
  readonly id: string;
}

export const builder = (yargs: Argv) =>
  withWorkersFolder(withRedis(yargs), 'the current one')
    .positional('id', {
      type: 'string',
      demandOption: true,
      describe: 'id of the job, as its start has told it',
    })
    .example('$0 cancel 0123456789ab', 'by the shared folder, and by CLSORT_REDIS_URL');
