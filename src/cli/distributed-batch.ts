/** `clsort batch --engine`: a batch over several machines. */
import { dirname, resolve } from 'node:path';
import type { BatchOptions, OpenRunner } from '../batch/batch.js';
import type { Listener } from '../batch/events.js';
import { BullmqJobRunner } from '../engines/bullmq-job-runner.js';
import { batchChain } from '../engines/chain.js';
import {
  type DirectExecution,
  DistributedBatchRunner,
  type Scheduler,
} from '../engines/distributed-batch-runner.js';
import { SharedFolder } from '../engines/shared-folder.js';
import { assertNotPending } from '../engines/slurm.js';
import { isStdin } from '../io/streams/raw.js';
import { UsageError } from '../util/errors.js';
import type { Console } from './console.js';
import { cannotCombine, optionOfWorkers } from './option-errors.js';
import type { BatchArguments } from './options/batch.js';
import { expectRedis } from './redis-arguments.js';
import { assertScheduler, handOver, SCHEDULERS } from './scheduler.js';

/**
 * Returns the runner that executes the jobs on workers.
 *
 * @throws UsageError when an option applies only to workers, or only to batches on this host
 * @throws IoError when the shared folder cannot be opened
 */
export async function distributedRunnerFor(
  args: BatchArguments,
  { failFast, timeout }: Pick<BatchOptions, 'failFast' | 'timeout'>,
  console: Console,
): Promise<OpenRunner> {
  assertScheduler(args);
  if (timeout !== undefined)
    throw cannotCombine('--timeout', '--engine', 'only jobs on this machine have a time limit');
  if (isStdin(args.jobs))
    throw new UsageError(
      'cannot use stdin with --engine: the name of the manifest identifies the batch. Pass a file',
    );
  const isHandedOver = SCHEDULERS.includes(args.engine ?? '');
  const runs = isHandedOver ? undefined : queueExecution(args);
  const shared = await SharedFolder.open(args['workers-folder'] ?? dirname(resolve(args.jobs)));
  return async (_, { signal, onEvent }) =>
    new DistributedBatchRunner({
      ...{ shared, failFast, signal, onEvent },
      name: resolve(args.jobs),
      by: runs ? runs(onEvent) : schedulerExecution(args, shared, console),
    });
}

function queueExecution(args: BatchArguments): (onEvent: Listener) => DirectExecution {
  const url = expectRedis(args);
  const own = (['device', 'memory'] as const).find((name) => args[name] !== undefined);
  if (own) throw optionOfWorkers(`--${own}`);
  return (onEvent) => ({
    runner: (id) =>
      BullmqJobRunner.open({
        ...{ url, queue: args.queue, id, out: 'batch' },
        onWarning: (message) => onEvent({ is: 'warning', message }),
      }),
  });
}

const schedulerExecution = (args: BatchArguments, shared: SharedFolder, console: Console): Scheduler => ({
  assertFree: async (folder) => {
    if (args.submit) await assertNotPending(folder);
  },
  handOver: (batch, folder, open) =>
    handOver(batchChain(batch, folder, open), { folder, shared }, args, console),
});
