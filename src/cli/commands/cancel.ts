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
  if (url) printOutcome(`${await cancelInRedis(url, queue, id)} tasks were taken from the queue`);
  const shared = await SharedFolder.open(args['workers-folder'] ?? '.');
  let folder: JobFolder;
  try {
    folder = await JobFolder.find(shared, id);
  } catch (error) {
    if (!url || !(error instanceof IoError)) throw error;
    printOutcome(
      `job ${id} is not in ${shared.root}: its coordinator removes what is kept of it, if it is there`,
    );
    return EXIT.ok;
  }
  const jobs = await cancelPending(folder);
  if (jobs.length > 0) printOutcome(`Slurm's jobs ${jobs.join(' ')} were cancelled`);
  const isGone = await cancelInFolder(folder);
  printOutcome(
    isGone ? `job ${id}: nothing is kept of it` : `job ${id}: its coordinator was told to give it up`,
  );
  return EXIT.ok;
}
