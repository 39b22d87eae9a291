import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDevice } from './device.js';
import { withEngine, withScheduler } from './engine.js';
import { flag, number, required, text, texts } from './kinds.js';

export const builder = (yargs: Argv) =>
  withDevice(withScheduler(withEngine(yargs, ['bullmq', 'slurm', 'kubernetes'], "JOBS' folder")), {
    words: true,
  })
    .positional('jobs', required("manifest: JSON, YAML or one job per line; '-' for stdin"))
    .option(
      'parallel',
      number(
        'concurrent jobs per device, to overlap I/O with sorting; small jobs count less; default half the number of processors plus one, 2 to 8',
      ),
    )
    .option(
      'memory',
      text('memory limit of all jobs together, such as 2G or 50%; default half of the free memory', 'S'),
    )
    .option('journal', text('file that records completed jobs; default JOBS.journal, none for stdin'))
    .option('force', flag('rerun completed jobs'))
    .option('dry-run', flag('check all jobs and print what would run'))
    .option('retries', { ...number('retries of a job after a temporary failure'), default: 1 })
    .option('timeout', number('time limit of a job in seconds; default none'))
    .option('fail-fast', flag('start no more jobs after a failure'))
    .option('keep-going', flag('continue after a failure (default)'))
    .option(
      'report',
      texts('write a report: .json, .md, .xml (JUnit) or .html with a timeline; may be repeated'),
    )
    .option('json', {
      type: 'boolean',
      describe: 'print one JSON object per line: jobs, then summary; default when stdout is not a terminal',
    })
    .group(['dry-run', 'force', 'parallel', 'retries', 'timeout', 'fail-fast'], 'Jobs:')
    .group(['device', 'memory', 'engine'], 'Execution:')
    .group(['report', 'json'], 'Output:')
    .example('$0 batch jobs.json', 'devices from the manifest, or the best one')
    .example('$0 batch jobs.yaml --device gpu,cpu', 'two devices at once')
    .example('$0 batch jobs.json --engine slurm --submit', 'job array, with one task per job')
    .example('$0 batch jobs.json --report report.html', 'page with the timeline')
    .epilogue(
      'The manifest: { "devices": ["gpu"], "defaults": { "dtype": "u32", "verify": true },\n' +
        '  "jobs": [{ "in": "a.u32", "out": "a.sorted" }, { "in": "*.f64", "out": "sorted/{name}{ext}",\n' +
        '  "argsort": true, "descending": true, "device": "host" }] }\n' +
        'Fields of a job: name in out dtype format to column axis header delimiter descending nan bits record keys\n' +
        '  argsort algorithm scan radixBits verify device tmp unique counts; of tables by columns head uniqueBy.\n' +
        'Without dtype, names and headers of the files define it.\n' +
        'Paths are relative to the manifest. A second run repeats only jobs whose files are missing or have changed.\n' +
        'A failed job does not stop the others; the exit code is that of the first failed job. See docs/batches.md.',
    );

export type BatchArguments = ArgumentsOf<typeof builder>;
