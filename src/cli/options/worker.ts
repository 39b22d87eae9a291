import type { Argv } from 'yargs';
import { type DeviceArguments, withDevice } from './device.js';
import { type FolderArguments, type RedisArguments, withRedis, withWorkersFolder } from './engine.js';
import { type BudgetArguments, withBudget } from './memory.js';

export const command = 'worker';
export const describe = 'Work for sorts and batches that run over many machines';

export interface WorkerArguments extends DeviceArguments, RedisArguments, FolderArguments, BudgetArguments {
  readonly tmp: string | undefined;
  readonly stalled: number;
  readonly job: string | undefined;
  readonly step: string | undefined;
  readonly share: number;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withDevice(withBudget(withWorkersFolder(withRedis(yargs), 'the current one')))
    .option('tmp', {
      alias: 'T',
      type: 'string',
      nargs: 1,
      describe: 'folder for what is larger than memory; default in the shared one',
    })
    .option('stalled', {
      type: 'number',
      nargs: 1,
      default: 30,
      describe: 'seconds of silence after which another worker takes a task',
    })
    .option('job', {
      type: 'string',
      nargs: 1,
      describe: 'for schedulers: one step of this job, then the end',
    })
    .option('step', {
      type: 'string',
      nargs: 1,
      choices: ['sample', 'splitters', 'partition', 'sort', 'verify', 'finish', 'batch'],
      describe: 'for schedulers: which step',
    })
    .option('share', {
      type: 'number',
      nargs: 1,
      default: 0,
      describe: 'for schedulers: which share of it, from 0',
    })
    .option('json', {
      type: 'boolean',
      default: false,
      describe: 'what happens as JSON, one object a line, on stdout',
    })
    .example(
      'CLSORT_REDIS_URL=redis://head:6379 $0 worker --device gpu',
      'in the folder that all hosts share',
    )
    .epilogue(
      'It works until it is interrupted, one task at a time: one worker for each device. See docs/many-machines.md.',
    );
