import { JobFolder } from '../../engines/job-folder.js';
import { SharedFolder } from '../../engines/shared-folder.js';
import { type FolderStatus, folderStatus, type RedisStatus, redisStatus } from '../../engines/status.js';
import { IoError } from '../../util/errors.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { StatusArguments } from '../options/status.js';
import { readRedis } from '../redis-arguments.js';
import { table } from '../table.js';

export async function run(args: StatusArguments, console: Console): Promise<ExitCode> {
  const { id, queue, json } = args;
  const url = readRedis(args);
  const status = url && (await redisStatus(url, queue, id));
  const shared = await SharedFolder.open(args['workers-folder'] ?? '.');
  let found: FolderStatus | undefined;
  try {
    found = await folderStatus(await JobFolder.find(shared, id));
  } catch (error) {
    // When the job folder is not reachable, Redis may still know the job.
    if (!status?.job || !(error instanceof IoError)) throw error;
  }
  // A scheduled batch keeps its folder until the next run has reported its results.
  const isAll = found?.stages.every(({ stage, done, tasks }) => stage === 'batch' && done === tasks) ?? false;
  const isDone = isAll || (found === undefined && status?.job?.state === 'done');
  if (json)
    print(console, JSON.stringify({ schema: 'clsort.status/1', id, done: isDone, folder: found, ...status }));
  else for (const line of [...folderText(found), ...redisText(status)]) print(console, line);
  return isDone ? EXIT.ok : EXIT.notSorted;
}

function folderText(found: FolderStatus | undefined): string[] {
  if (!found) return [];
  const rows = found.stages.map(({ stage, done, tasks }) => [
    stage,
    String(done),
    `of ${tasks ?? '(unknown)'}`,
  ]);
  return [`job ${found.id}: ${found.out}`, table(rows, ['left', 'right', 'left'])];
}

function redisText(status: RedisStatus | undefined): string[] {
  if (!status) return [];
  const { job, workers } = status;
  const lines: string[] = [];
  if (job) {
    const { state, stage, done, tasks, host, pid, out } = job;
    const age = Math.max(0, Math.round((Date.now() - job.at) / 1000));
    lines.push(
      `${out}: ${state}, ${stage} ${done} of ${tasks}; coordinator ${pid} on ${host}, last seen ${age} s ago`,
    );
  }
  for (const { name, device, version, task } of workers) {
    lines.push(`worker ${name}, ${device}, clsort ${version}: ${task ?? 'idle'}`);
  }
  return lines;
}
