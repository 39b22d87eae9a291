/** Engines that submit to a scheduler, or print the script for it. */
import { resolve } from 'node:path';
import type { Chain, NodeOptions } from '../engines/chain.js';
import type { JobFolder } from '../engines/job-folder.js';
import { kubernetesManifest } from '../engines/kubernetes.js';
import type { SharedFolder } from '../engines/shared-folder.js';
import { slurmScript, submit } from '../engines/slurm.js';
import { type Console, print } from './console.js';
import { cannotCombine, missingOption } from './option-errors.js';
import type { DeviceArguments } from './options/device.js';
import type { SchedulerArguments } from './options/engine.js';
import type { BudgetArguments } from './options/memory.js';

export const SCHEDULERS = ['slurm', 'kubernetes'];

interface HandedOver extends SchedulerArguments, DeviceArguments, BudgetArguments {
  readonly engine: string | undefined;
  readonly tmp?: string | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Checks the scheduler options.
 *
 * @throws UsageError when options conflict, or when a required one is missing
 */
export function assertScheduler({
  engine = '',
  print: isPrinted,
  submit: isSubmitted,
  image,
}: HandedOver): void {
  if (!SCHEDULERS.includes(engine)) {
    if (!isPrinted && !isSubmitted) return;
    throw cannotCombine(isPrinted ? '--print' : '--submit', `--engine ${engine}`, 'it runs the tasks itself');
  }
  if (engine === 'kubernetes' && isSubmitted) {
    const advice = 'Pass --print, and apply the manifest with kubectl';
    throw cannotCombine('--submit', '--engine kubernetes', 'clsort only writes the manifest', advice);
  }
  if (isPrinted && isSubmitted)
    throw cannotCombine('--print', '--submit', 'one prints the script, the other submits it');
  if (!isPrinted && !isSubmitted) {
    const submits = engine === 'slurm' ? ', or --submit to submit it' : '';
    throw missingOption(`use --engine ${engine}`, '--print', `Pass --print to print the job${submits}`);
  }
  if (engine === 'kubernetes' && image === undefined) {
    throw missingOption(
      'use --engine kubernetes',
      '--image',
      'Pass an image with clsort and an OpenCL driver',
    );
  }
}

/** Returns the command that runs clsort here: this Node executable and the entry file of both threads. */
const ownCommand = (): string[] => [process.execPath, resolve(process.argv[1] ?? '')];

const words = (text: string | undefined): string[] | undefined =>
  text?.split(/\s+/).filter((word) => word !== '');

function nodeOptions({ root }: SharedFolder, args: HandedOver, command: readonly string[]): NodeOptions {
  return {
    command: words(args.command) ?? command,
    root,
    device: (args.device ?? ['auto']).join(','),
    memory: args.memory,
    tmp: args.tmp,
  };
}

/**
 * Submits the remaining work to the scheduler, or prints it.
 *
 * @throws IoError when a file cannot be accessed
 * @throws UnsupportedError when Slurm is not installed here
 */
export async function handOver(
  chain: Chain,
  { folder, shared }: { readonly folder: JobFolder; readonly shared: SharedFolder },
  args: HandedOver,
  console: Console,
): Promise<void> {
  if (args.engine === 'kubernetes') {
    const { image = '', claim = 'clsort', resource } = args;
    const options = { ...nodeOptions(shared, args, ['clsort']), image, claim, resource };
    print(console, kubernetesManifest(chain, folder, options));
    return;
  }
  const script = slurmScript(
    chain,
    folder,
    nodeOptions(shared, args, ownCommand()),
    words(args.sbatch) ?? [],
  );
  if (args.print) {
    print(console, script);
    return;
  }
  const ids = await submit(script);
  const json = { schema: 'clsort.submitted/1', id: folder.id, jobs: ids };
  print(
    console,
    args.json ? JSON.stringify(json) : `job ${folder.id}: submitted as Slurm jobs ${ids.join(' ')}`,
  );
}
