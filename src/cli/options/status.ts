import type { Argv } from 'yargs';
import { type FolderArguments, type RedisArguments, withRedis, withWorkersFolder } from './engine.js';

export const command = 'status <id>';
export const describe = 'Tell how far a sort over many machines is';

export interface StatusArguments extends RedisArguments, FolderArguments {
  readonly id: string;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withWorkersFolder(withRedis(yargs), 'the current one')
    .positional('id', {
      type: 'string',
      demandOption: true,
      describe: 'id of the job, as its start has told it',
    })
    .option('json', { type: 'boolean', default: false, describe: 'as JSON' })
    .example('$0 status 0123456789ab', 'by the shared folder, or by CLSORT_REDIS_URL from anywhere')
    .epilogue('Exit code 0 when it is done, 1 when it is not.');
