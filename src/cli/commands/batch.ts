import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { Argv } from 'yargs';
import { type JobResult, runBatch } from '../../batch/batch.js';
import { parseBatch } from '../../batch/jobs.js';
import { ioError, STDIO } from '../../io/raw.js';
import { ClsortError } from '../../util/errors.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode, exitCodeOf } from '../exit-code.js';
import { ProgressBar } from '../progress-bar.js';
import { grouped, secondsText } from '../table.js';

export const command = 'batch <jobs>';
export const describe = 'Sort many files, as a JSON file lists them';

export interface BatchArguments {
  readonly jobs: string;
  readonly device: readonly string[] | undefined;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  yargs
    .nargs('jobs', 1)
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
        'Fields of a job: name in out dtype format to column axis header delimiter descending nan bits argsort\n' +
        '  algorithm scan radixBits verify device. Without dtype names and headers of the files say it.\n' +
        'Files are relative to the JSON file. A job that fails does not stop the others; the exit\n' +
        'code is that of the first job that failed.',
    );

export async function run(args: BatchArguments, console: Console): Promise<ExitCode> {
  const started = performance.now();
  const fromStdin = args.jobs === STDIO;
  const json = fromStdin
    ? await readText(console.stdin)
    : await readFile(args.jobs, 'utf8').catch((error) => {
        throw ioError('read', args.jobs, error);
      });
  const folder = fromStdin ? process.cwd() : dirname(resolve(args.jobs));
  const batch = parseBatch(json, { name: fromStdin ? 'stdin' : args.jobs, folder });
  const devices = args.device ?? (batch.devices.length > 0 ? batch.devices : ['auto']);
  const bar = new ProgressBar(console);
  let done = 0;
  const results = await runBatch(batch, devices, {
    ...console,
    onWarning: ({ message }) => {
      bar.clear();
      say(console, `clsort: warning: ${message}`);
    },
    onResult: (result) => {
      bar.clear();
      print(console, args.json ? JSON.stringify(resultJson(result)) : resultText(result));
      bar.update('jobs', ++done, batch.jobs.length);
    },
  });
  bar.clear();
  const count = (outcome: JobResult['outcome']) =>
    results.filter((result) => result.outcome === outcome).length;
  const summary = {
    jobs: results.length,
    ok: count('ok'),
    failed: count('error'),
    skipped: count('skipped'),
  };
  const seconds = (performance.now() - started) / 1000;
  print(
    console,
    args.json
      ? JSON.stringify({ schema: 'clsort.batch-summary/1', ...summary, seconds })
      : `${summary.jobs} jobs: ${summary.ok} ok, ${summary.failed} failed, ${summary.skipped} skipped; ${secondsText(seconds)}`,
  );
  return exitOf(results);
}

function exitOf(results: readonly JobResult[]): ExitCode {
  const failed = results.find((result) => result.outcome === 'error');
  if (failed) return exitCodeOf(failed.error) ?? EXIT.device;
  return results.some(({ outcome }) => outcome === 'skipped') ? EXIT.interrupted : EXIT.ok;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function resultJson(result: JobResult) {
  const { name, in: from, out } = result.job;
  const row = { schema: 'clsort.batch-job/1', name, in: from, out, outcome: result.outcome };
  if (result.outcome === 'skipped') return row;
  if (result.outcome === 'error') {
    const { error, seconds } = result;
    const code = error instanceof ClsortError ? error.code : 'ERR_CLSORT_INTERNAL';
    return { ...row, seconds, error: { code, message: messageOf(error) } };
  }
  const { report, seconds } = result;
  const { n, dtype, device, algorithm, verified = null } = report;
  return { ...row, seconds, n, dtype, device, algorithm, verified };
}

function resultText(result: JobResult): string {
  const { name } = result.job;
  if (result.outcome === 'skipped') return `skipped  ${name}`;
  if (result.outcome === 'error') return `FAILED   ${name}: ${messageOf(result.error)}`;
  const { n, dtype, device, algorithm, verified } = result.report;
  const proof = verified ? ', verified' : '';
  return `ok       ${name}: ${grouped(n)} ${dtype} keys, ${algorithm} on ${device.name}, ${secondsText(result.seconds)}${proof}`;
}
