/** Options of sorts and batches over several machines. */
import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { flag, number, text, word } from './kinds.js';

export const ENGINE_NAMES = ['local', 'bullmq', 'slurm', 'kubernetes'] as const;

/** Adds --redis and --queue. */
export const withRedis = <T>(yargs: Argv<T>) =>
  yargs
    .option(
      'redis',
      text(
        'URL of Redis, redis://HOST:PORT; prefer CLSORT_REDIS_URL, since other users can see a command line',
      ),
    )
    .option('queue', {
      ...text('queue of workers, such as those with one kind of device'),
      default: 'default',
    });

/** Adds --workers-folder. */
export const withWorkersFolder = <T>(yargs: Argv<T>, fallback: string) =>
  yargs.option(
    'workers-folder',
    text(`folder shared by all workers, as a path on this machine; default ${fallback}`),
  );

/** Adds --engine, with the options that locate its workers. */
export const withEngine = <T>(yargs: Argv<T>, engines: readonly string[], fallback: string) =>
  withWorkersFolder(
    withRedis(
      yargs.option('engine', {
        ...word('run on many machines, with this engine; see docs/many-machines.md'),
        choices: [...engines],
      }),
    ),
    fallback,
  );

/** Adds the options for schedulers. */
export const withScheduler = <T>(yargs: Argv<T>) =>
  yargs
    .option('submit', flag('with --engine slurm, submit the job'))
    .option('print', flag('with --engine slurm or kubernetes, print what would be submitted'))
    .option(
      'command',
      text(
        'command that runs clsort on the nodes; default the current one with slurm, clsort with kubernetes',
      ),
    )
    .option(
      'sbatch',
      text('with slurm, arguments for every sbatch, such as --sbatch="--partition=gpu --gres=gpu:1"'),
    )
    .option('image', text('with kubernetes, container image with clsort'))
    .option('claim', text('with kubernetes, claim of the shared volume; default clsort'))
    .option(
      'resource',
      text('with kubernetes, resource of a sorting pod, as the device plugin names it: NAME=COUNT'),
    );

/**
 * Returns the first of these options that was given, for a command that must reject them; undefined when there is none.
 */
export function schedulerOption(args: SchedulerArguments): string | undefined {
  const names = ['command', 'sbatch', 'image', 'claim', 'resource'] as const;
  return (
    names.find((name) => args[name] !== undefined) ??
    (['submit', 'print'] as const).find((name) => args[name])
  );
}

/** Adds the options of a sort over several machines. */
export const withCluster = <T>(yargs: Argv<T>) =>
  withScheduler(
    withEngine(yargs, ENGINE_NAMES, "OUT's folder")
      .option('partitions', number('with --engine, approximate number of partitions; default by size'))
      .option('shards', number('with --engine, approximate number of shards of the input; default by size')),
  );

export type RedisArguments = ArgumentsOf<typeof withRedis<object>>;

export type SchedulerArguments = ArgumentsOf<typeof withScheduler<object>>;
