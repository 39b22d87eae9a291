/** `clsort batch --engine`: a batch over many machines. */
import { dirname, resolve } from 'node:path';
import type { BatchOptions, OpenRunner } from '../batch/batch.js';
import type { Listener } from '../batch/events.js';
import { EngineRunner, type Runs, type Scheduler } from '../engines/batch-runner.js';
import { BullEngine } from '../engines/bullmq.js';
import { batchChain } from '../engines/chain.js';
import { SharedFolder } from '../engines/shared-folder.js';
import { assertNotPending } from '../engines/slurm.js';
import { isStdin } from '../io/raw.js';
import { UsageError } from '../util/errors.js';
import type { Console } from './console.js';
import { expectRedis } from './engine-arguments.js';
import type { BatchArguments } from './options/batch.js';
import { assertScheduler, handOver, SCHEDULERS } from './scheduler.js';

/** What runs the jobs on workers. @throws UsageError for options that are each worker's own; IoError */
export async function openerFor(
  args: BatchArguments,
  { failFast, timeout }: Pick<BatchOptions, 'failFast' | 'timeout'>,
  console: Console,
): Promise<OpenRunner> {
  assertScheduler(args);
  if (timeout !== undefined) throw new UsageError('--timeout is for batches on this host');
  if (isStdin(args.jobs))
    throw new UsageError('a batch over many machines is known by its manifest: name a file, not stdin');
  const isHandedOver = SCHEDULERS.includes(args.engine ?? '');
  const runs = isHandedOver ? undefined : ofQueue(args);
  const shared = await SharedFolder.open(args['workers-folder'] ?? dirname(resolve(args.jobs)));
  return async (_, { signal, onEvent }) =>
    new EngineRunner({
      ...{ shared, failFast, signal, onEvent },
      name: resolve(args.jobs),
      by: runs ? runs(onEvent) : ofScheduler(args, shared, console),
    });
}

function ofQueue(args: BatchArguments): (onEvent: Listener) => Runs {
  const url = expectRedis(args);
  const own = (['device', 'memory'] as const).find((name) => args[name] !== undefined);
  if (own) throw new UsageError(`--${own} is each worker's own: say it to 'clsort worker'`);
  return (onEvent) => ({
    engine: (id) =>
      BullEngine.open({
        ...{ url, queue: args.queue, id, out: 'batch' },
        onWarning: (message) => onEvent({ is: 'warning', message }),
      }),
  });
}

const ofScheduler = (args: BatchArguments, shared: SharedFolder, console: Console): Scheduler => ({
  assertFree: async (folder) => {
    if (args.submit) await assertNotPending(folder);
  },
  handOver: (batch, folder, open) =>
    handOver(batchChain(batch, folder, open), { folder, shared }, args, console),
});
