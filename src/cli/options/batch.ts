import type { Argv } from 'yargs';

export const command = 'batch <jobs>';
export const describe = 'Sort many files, as a JSON file lists them';

export interface BatchArguments {
  readonly jobs: string;
  readonly device: readonly string[] | undefined;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  yargs
    .positional('jobs', { type: 'string', demandOption: true, describe: "JSON file, '-' for stdin" })
    .option('device', {
      type: 'string',
      array: true,
      describe: 'devices that share the jobs (several may be given); before those of the file',
    })
    .option('json', {
      type: 'boolean',
      default: false,
      describe: 'one JSON object a line: jobs, then summary',
    })
    .example('$0 batch jobs.json', 'on the devices that the file names, or the best one')
    .example('$0 batch jobs.json --device gpu cpu', 'on two devices at the same time')
    .epilogue(
      'The file: { "devices": ["gpu"], "defaults": { "dtype": "u32", "verify": true },\n' +
        '  "jobs": [{ "in": "a.u32", "out": "a.sorted" }, { "in": "b.f64", "out": "b.order",\n' +
        '  "dtype": "f64", "argsort": true, "descending": true, "device": "host" }] }\n' +
        'Fields of a job: name in out dtype format to column axis header delimiter descending nan bits record keys\n' +
        '  argsort algorithm scan radixBits verify device. Without dtype names and headers of the files say it.\n' +
        'Files are relative to the JSON file. A job that fails does not stop the others; the exit\n' +
        'code is that of the first job that failed.',
    );
