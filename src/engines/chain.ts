/** Steps for a scheduler, one after the other: what is left to do of a sort or a batch, and how a task of it is called. */
import type { BatchJobs } from './batch-job.js';
import type { JobFolder } from './job-folder.js';
import { STAGES } from './job-runner.js';
import { batchSharesOf, batchSharesWith, openShares, type Step, sharesOf } from './shares.js';
import type { SortJob } from './sort-job.js';

/** How tasks are run on nodes. */
export interface NodeOptions {
  /** The words that call clsort there. */
  readonly command: readonly string[];
  /** The folder that all nodes share, as they see it. */
  readonly root: string;
  readonly device: string;
  /** As `--memory` has it; undefined for half of what is free. */
  readonly memory: string | undefined;
  readonly tmp: string | undefined;
}

/** The words of a task: its stage and share, which the scheduler knows. */
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

/** Steps that a scheduler runs one after the other. */
export interface Chain {
  /** What it is, in a comment. */
  readonly title: string;
  readonly steps: readonly ChainStep[];
}

export interface ChainStep {
  readonly step: Step;
  /** Of an array those that have something to do, and how many there are; left out of a step that is no array. */
  readonly shares?: { readonly open: readonly number[]; readonly of: number };
  /** Whether it works on devices. */
  readonly isOnDevice: boolean;
}

/** What is left to do of a sort. */
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

/** What is left to do of a batch. @param open its jobs that have no record */
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
