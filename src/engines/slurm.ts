/**
 * A sort or batch as Slurm job arrays, each of which starts after the previous one has succeeded. Slurm requeues tasks
 * of lost nodes. Failed tasks are resubmitted by running the same command again, since a requeue holds a task for
 * minutes.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ioError } from '../io/streams/raw.js';
import { IoError, UsageError } from '../util/errors.js';
import { type Chain, type NodeOptions, taskArguments } from './chain.js';
import type { JobFolder } from './job-folder.js';
import { commandLine, quoteWord } from './shell.js';

const run = promisify(execFile);

/** File with the IDs of submitted jobs, one per line. */
const SUBMITTED = 'slurm-jobs';

/** Formats numbers as a Slurm array specification, such as 0-3,7. */
export function arraySpec(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

/**
 * Returns the script that submits the remaining work: a chain of arrays, followed by a job that reports the outcome
 * even after a failure.
 *
 * @param chain the remaining steps
 * @param folder folder of the job
 * @param node how tasks run on nodes
 * @param sbatch options for every sbatch, such as `--partition=gpu`
 */
export function slurmScript(
  { title, steps }: Chain,
  folder: JobFolder,
  node: NodeOptions,
  sbatch: readonly string[],
): string {
  const { id } = folder;
  const jobs = quoteWord(folder.file(SUBMITTED));
  // Outside the job folder, since that is removed at the end.
  const logs = `${folder.path}-logs`;
  const log = (step: string, isArray: boolean): string =>
    // Slurm expands % in file names.
    `${logs.replaceAll('%', '%%')}/${step}-%j${isArray ? '-%a' : ''}.log`;
  const task = (step: string, isArray: boolean): string[] => [
    '#!/bin/bash',
    `exec ${commandLine(taskArguments(node, id, step))}${isArray ? ' --share "$SLURM_ARRAY_TASK_ID"' : ''}`,
  ];
  const lines = [
    '#!/bin/bash',
    `# ${title}`,
    '# Run this script to submit the job, or pass --submit to clsort. It may be submitted again after the whole job has',
    '# ended: completed tasks do nothing. The same command writes a script with only the remaining tasks.',
    'set -euo pipefail',
    'after=',
    'all=',
    `mkdir -p ${quoteWord(logs)}`,
    '',
    '# Submits the script on stdin, to run after the previous submission.',
    'submit() {',
    '  local submitted',
    `  submitted=$(sbatch --parsable --kill-on-invalid-dep=yes $after "$@"${sbatch.map((word) => ` ${quoteWord(word)}`).join('')})`,
    // With several clusters, the cluster name follows a semicolon.
    '  submitted=$(echo "$submitted" | cut -d ";" -f 1)',
    `  echo "$submitted" >> ${jobs}`,
    '  after="--dependency=afterok:$submitted"',
    '  all="$all:$submitted"',
    '  echo "$submitted"',
    '}',
  ];
  for (const { step, shares } of steps) {
    lines.push(
      '',
      ...(shares ? [`# ${step}: ${shares.open.length} of ${shares.of} shares.`] : []),
      `submit --job-name=clsort-${id}-${step} ${shares ? `--array=${arraySpec(shares.open)} ` : ''}--output=${quoteWord(log(step, shares !== undefined))} <<'TASK'`,
      ...task(step, shares !== undefined),
      'TASK',
    );
  }
  lines.push(
    '',
    '# The last job reports the outcome, even when other jobs have failed.',
    'after="--dependency=afterany$all"',
    `submit --job-name=clsort-${id}-report --output=${quoteWord(log('report', false))} <<'TASK'`,
    '#!/bin/bash',
    `if [ ! -e ${quoteWord(folder.file('job.json'))} ]; then echo 'job ${id} is complete'; exit; fi`,
    `exec ${commandLine([...node.command, 'status', id, '--workers-folder', node.root])}`,
    'TASK',
    '',
  );
  return lines.join('\n');
}

/** Returns the IDs of earlier submissions of a job. */
async function submitted(folder: JobFolder): Promise<string[]> {
  const path = folder.file(SUBMITTED);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw ioError('read', path, error);
  });
  return text.split('\n').filter((line) => /^\d+$/.test(line));
}

async function call(command: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(command, [...args], { maxBuffer: 2 ** 26 })).stdout;
  } catch (cause) {
    const { code, stderr = '' } = cause as NodeJS.ErrnoException & { stderr?: string };
    if (code === 'ENOENT') {
      throw new IoError(
        `cannot run ${command}: it is not installed. Submit from a host of the cluster, or print the script with --print`,
        { cause },
      );
    }
    throw new IoError(`cannot run ${command}: ${stderr.trim() || (cause as Error).message}`, { cause });
  }
}

/** Returns the IDs of pending Slurm jobs. Lists all jobs, since squeue fails for IDs that it has forgotten. */
async function pendingOf(folder: JobFolder): Promise<string[]> {
  const ours = new Set(await submitted(folder));
  if (ours.size === 0) return [];
  const listed = (await call('squeue', ['--noheader', '--format=%A %F'])).split('\n');
  const known = new Set(listed.flatMap((line) => line.trim().split(/\s+/)));
  return [...ours].filter((id) => known.has(id));
}

/** @throws UsageError when Slurm has pending jobs for this job */
export async function assertNotPending(folder: JobFolder): Promise<void> {
  const pending = await pendingOf(folder);
  if (pending.length === 0) return;
  throw new UsageError(
    `cannot submit job ${folder.id}: Slurm is still running it (${pending.join(' ')}). Wait, or run 'clsort cancel ${folder.id}'`,
    { details: { id: folder.id, jobs: pending } },
  );
}

/**
 * Runs the script.
 *
 * @returns the IDs of the submitted jobs
 */
export async function submit(script: string): Promise<string[]> {
  const out = await call('bash', ['-c', script]);
  return out.split('\n').filter((line) => /^\d+$/.test(line));
}

/**
 * Cancels the pending Slurm jobs of a job.
 *
 * @returns their IDs
 */
export async function cancelPending(folder: JobFolder): Promise<string[]> {
  const pending = await pendingOf(folder);
  if (pending.length > 0) await call('scancel', pending);
  return pending;
}
