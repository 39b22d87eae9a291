import { JobFolder } from '../../engines/job-folder.js';
import { SharedFolder } from '../../engines/shared-folder.js';
import { cancelPending } from '../../engines/slurm.js';
import { cancelInFolder, cancelInRedis } from '../../engines/status.js';
import { IoError } from '../../util/errors.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { CancelArguments } from '../options/cancel.js';
import { readRedis } from '../redis-arguments.js';

export async function run(args: CancelArguments, console: Console): Promise<ExitCode> {
  const { id, queue } = args;
  const url = readRedis(args);
  const printOutcome = (text: string): void => {
    if (!console.quiet) print(console, text);
  };
  if (url) printOutcome(`${await cancelInRedis(url, queue, id)} tasks were removed from the queue`);
  const shared = await SharedFolder.open(args['workers-folder'] ?? '.');
  let folder: JobFolder;
  try {
    folder = await JobFolder.find(shared, id);
  } catch (error) {
    if (!url || !(error instanceof IoError)) throw error;
    printOutcome(`job ${id} has no folder in ${shared.root}; its coordinator removes the folder`);
    return EXIT.ok;
  }
  const jobs = await cancelPending(folder);
  if (jobs.length > 0) printOutcome(`Slurm jobs ${jobs.join(' ')} were cancelled`);
  const isGone = await cancelInFolder(folder);
  printOutcome(
    isGone ? `job ${id} was cancelled and removed` : `job ${id} is being cancelled by its coordinator`,
  );
  return EXIT.ok;
}
