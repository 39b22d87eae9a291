import type { Argv } from 'yargs';
import { type DeviceArguments, withDevice } from './device.js';
import { type EngineArguments, type SchedulerArguments, withEngine, withScheduler } from './engine.js';

export const command = 'batch <jobs>';
export const describe = 'Sort many files, as a manifest lists them';

export interface BatchArguments extends DeviceArguments, EngineArguments, SchedulerArguments {
  readonly jobs: string;
  readonly json: boolean | undefined;
  readonly journal: string | undefined;
  readonly force: boolean;
  readonly 'dry-run': boolean;
  readonly parallel: number | undefined;
  readonly retries: number;
  readonly timeout: number | undefined;
  readonly 'keep-going': boolean;
  readonly 'fail-fast': boolean;
  readonly memory: string | undefined;
  readonly report: readonly string[] | undefined;
}

export const builder = (yargs: Argv) =>
  withDevice(withScheduler(withEngine(yargs, ['bullmq', 'slurm', 'kubernetes'], "JOBS' folder")), {
    words: true,
  })
    .positional('jobs', {
      type: 'string',
      demandOption: true,
      describe: "manifest: JSON, YAML or one job a line; '-' for stdin",
    })
    .option('parallel', {
      type: 'number',
      nargs: 1,
      describe:
        'jobs at once on a device, small ones counting less: some are read or written while another is sorted; default half as many as processors and one, 2 to 8',
    })
    .option('memory', {
      alias: 'S',
      type: 'string',
      nargs: 1,
      describe: 'most memory that all jobs together sort in, as 2G or 50%; default half of what is free',
    })
    .option('journal', {
      type: 'string',
      nargs: 1,
      describe: 'file that keeps what is done; default JOBS.journal, none for stdin',
    })
    .option('force', {
      type: 'boolean',
      default: false,
      describe: 'do what the journal says to be done, too',
    })
    .option('dry-run', {
      type: 'boolean',
      default: false,
      describe: 'check all, and tell what would be done',
    })
    .option('retries', {
      type: 'number',
      nargs: 1,
      default: 1,
      describe: 'how often a job is tried again that may go well then',
    })
    .option('timeout', { type: 'number', nargs: 1, describe: 'seconds that a job may take; default any' })
    .option('fail-fast', {
      type: 'boolean',
      default: false,
      describe: 'begin nothing more once a job has failed',
    })
    .option('keep-going', {
      type: 'boolean',
      default: false,
      describe: 'go on when a job has failed (default)',
    })
    .option('report', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'write a report: .json, .md, .xml (JUnit) or .html, with a timeline; may be repeated',
    })
    .option('json', {
      type: 'boolean',
      describe: 'one JSON object a line: jobs, then summary; default where stdout is no terminal',
    })
    .example('$0 batch jobs.json', 'on the devices that the file names, or the best one')
    .example('$0 batch jobs.yaml --device gpu,cpu', 'on two devices at the same time')
    .example('$0 batch jobs.json --engine slurm --submit', 'a job is a task of an array')
    .example('$0 batch jobs.json --report report.html', 'with a page that shows what took how long')
    .epilogue(
      'The manifest: { "devices": ["gpu"], "defaults": { "dtype": "u32", "verify": true },\n' +
        '  "jobs": [{ "in": "a.u32", "out": "a.sorted" }, { "in": "*.f64", "out": "sorted/{name}{ext}",\n' +
        '  "argsort": true, "descending": true, "device": "host" }] }\n' +
        'Fields of a job: name in out dtype format to column axis header delimiter descending nan bits record keys\n' +
        '  argsort algorithm scan radixBits verify device tmp unique counts; of tables by columns head uniqueBy.\n' +
        'Without dtype names and headers of the files say it.\n' +
        'Files are relative to the manifest. A second run does only what is missing or has changed. A job that fails\n' +
        'does not stop the others; the exit code is that of the first job that failed. See docs/batches.md.',
    );
