import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { withRedis, withWorkersFolder } from './engine.js';
import { flag, number, text } from './kinds.js';
import { withBudget } from './memory.js';

export const builder = (yargs: Argv) =>
  withDevice(withBudget(withWorkersFolder(withRedis(yargs), 'the current one')))
    .option('tmp', text('folder for external sorts; default in the shared folder', 'T'))
    .option('stalled', {
      ...number('seconds without a response after which another worker takes over a task'),
      default: 30,
    })
    .option('job', text('for schedulers: run one step of this job, then exit'))
    .option('step', {
      ...text('for schedulers: step of the job'),
      choices: ['sample', 'splitters', 'partition', 'sort', 'verify', 'finish', 'batch'],
    })
    .option('share', { ...number('for schedulers: index of the share of the step, from 0'), default: 0 })
    .option('json', flag('print events as JSON to stdout, one object per line'))
    .group(['workers-folder', 'redis', 'queue', 'stalled'], 'Tasks:')
    .group(['device', 'memory', 'tmp', 'json'], 'Execution:')
    .example(
      'CLSORT_REDIS_URL=redis://head:6379 $0 worker --device gpu',
      'run in the folder that all hosts share',
    )
    .epilogue(
      'Runs one task at a time until interrupted. Start one worker for each device. See docs/many-machines.md.',
    );

export type WorkerArguments = ArgumentsOf<typeof builder>;
