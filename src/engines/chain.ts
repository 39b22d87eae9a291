/** A chain of scheduler steps: the remaining work of a sort or batch, and the command lines of its tasks. */
import type { BatchJobs } from './batch-job.js';
import type { JobFolder } from './job-folder.js';
import { STAGES } from './job-runner.js';
import { batchSharesOf, batchSharesWith, openShares, type Step, sharesOf } from './shares.js';
import type { SortJob } from './sort-job.js';

/** How tasks run on nodes. */
export interface NodeOptions {
  /** Command that starts clsort on a node. */
  readonly command: readonly string[];
  /** Path of the shared folder on the nodes. */
  readonly root: string;
  readonly device: string;
  /** Memory limit, as for `--memory`; undefined means half of the free memory. */
  readonly memory: string | undefined;
  readonly tmp: string | undefined;
}

/** Returns the command line of a step, without the share, which the scheduler provides. */
export const taskArguments = (
  { command, root, device, memory, tmp }: NodeOptions,
  id: string,
  step: string,
): string[] => [
  ...command,
  ...['worker', '--workers-folder', root, '--job', id, '--step', step, '--device', device],
  ...(memory === undefined ? [] : ['--memory', memory]),
  ...(tmp === undefined ? [] : ['--tmp', tmp]),
];

/** Steps that a scheduler runs in sequence. */
export interface Chain {
  /** Description, for a comment. */
  readonly title: string;
  readonly steps: readonly ChainStep[];
}

export interface ChainStep {
  readonly step: Step;
  /** For an array: the shares with remaining work, and the total number of shares. Absent for a single task. */
  readonly shares?: { readonly open: readonly number[]; readonly of: number };
  /** Whether the step needs a device. */
  readonly isOnDevice: boolean;
}

/** Returns the remaining steps of a sort. */
export async function sortChain(job: SortJob, folder: JobFolder): Promise<Chain> {
  const steps: ChainStep[] = [];
  for (const step of STAGES) {
    const open = await openShares(job, folder, step);
    const isOnDevice = step === 'sort';
    if (open.length > 0) steps.push({ step, shares: { open, of: sharesOf(job, step) }, isOnDevice });
  }
  return {
    title: `clsort ${job.version}, job ${folder.id}: ${job.shards.length} shards, ${job.partitions} partitions.`,
    steps: [...steps, { step: 'finish', isOnDevice: false }],
  };
}

/**
 * Returns the remaining steps of a batch.
 *
 * @param open indices of the jobs without a record
 */
export const batchChain = (batch: BatchJobs, { id }: JobFolder, open: readonly number[]): Chain => ({
  title: `clsort ${batch.version}, job ${id}: ${open.length} of ${batch.jobs.length} jobs of a batch.`,
  steps: [
    {
      step: 'batch',
      shares: { open: batchSharesWith(batch, open), of: batchSharesOf(batch) },
      isOnDevice: true,
    },
  ],
});
