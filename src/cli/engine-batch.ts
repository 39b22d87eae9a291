/** `clsort batch --engine`: a batch over many machines. */
import { dirname, resolve } from 'node:path';
import type { BatchOptions, OpenRunner } from '../batch/batch.js';
import { EngineRunner } from '../engines/batch-runner.js';
import { BullEngine } from '../engines/bullmq.js';
import { SharedFolder } from '../engines/shared-folder.js';
import { STDIO } from '../io/raw.js';
import { UsageError } from '../util/errors.js';
import { expectRedis } from './engine-arguments.js';
import type { BatchArguments } from './options/batch.js';

/** What runs the jobs on workers. @throws UsageError for options that are each worker's own; IoError */
export async function openerFor(
  args: BatchArguments,
  { failFast, timeout }: Pick<BatchOptions, 'failFast' | 'timeout'>,
): Promise<OpenRunner> {
  const url = expectRedis(args);
  const own = (['device', 'memory'] as const).find((name) => args[name] !== undefined);
  if (own) throw new UsageError(`--${own} is each worker's own: say it to 'clsort worker'`);
  if (timeout !== undefined) throw new UsageError('--timeout is for batches on this host');
  if (args.jobs === STDIO)
    throw new UsageError('a batch over many machines is known by its manifest: name a file, not stdin');
  const shared = await SharedFolder.open(args['workers-folder'] ?? dirname(resolve(args.jobs)));
  return async (_, { signal, onEvent }) =>
    new EngineRunner({
      ...{ shared, failFast, signal, onEvent },
      name: resolve(args.jobs),
      engine: (id) =>
        BullEngine.open({
          ...{ url, queue: args.queue, id, out: 'batch' },
          onWarning: (message) => onEvent({ is: 'warning', message }),
        }),
    });
}
