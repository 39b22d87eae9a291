import { codeOf } from '../../batch/failures.js';
import { deviceSpecs } from '../../device/platform/select-device.js';
import { type ServeEvent, serve } from '../../engines/bullmq-worker.js';
import { JobFolder } from '../../engines/job-folder.js';
import { type Task, taskText } from '../../engines/job-runner.js';
import { batchOf, readJob, sortOf } from '../../engines/run-task.js';
import { SharedFolder } from '../../engines/shared-folder.js';
import { runBatchShare, runFinish, runShare, STEPS, type Step } from '../../engines/shares.js';
import type { WorkerContext } from '../../engines/worker-context.js';
import { Sorter } from '../../sort/api/sorter.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { assertWholeNumber } from '../../util/whole-number.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readBudget } from '../memory-options.js';
import { missingOption } from '../option-errors.js';
import type { WorkerArguments } from '../options/worker.js';
import { expectRedis } from '../redis-arguments.js';
import { grouped, secondsText } from '../table.js';

export async function run(args: WorkerArguments, console: Console): Promise<ExitCode> {
  const { tmp, job, stalled } = args;
  const devices = deviceSpecs(args.device ?? ['auto']);
  if (!(stalled >= 1)) throw invalidArgument('--stalled', 'at least 1 second', stalled);
  const url = job === undefined ? expectRedis(args) : undefined;
  const note = (text: string): void => {
    if (!console.quiet) say(console, `clsort: ${text}`);
  };
  const onWarning = ({ message }: Error): void => say(console, `clsort: warning: ${message}`);
  const shared = await SharedFolder.open(args['workers-folder'] ?? '.');
  let opening: Promise<Sorter> | undefined;
  const context: WorkerContext = {
    shared,
    sorter: () => {
      opening ??= Sorter.open({ devices, onWarning });
      return opening;
    },
    memory: readBudget(args),
    tmp,
    signal: console.signal,
    onWarning,
  };
  try {
    if (!url) return await runStep(args, context, note);
    // Fail on a missing device before any task waits for it.
    const sorter = await context.sorter();
    const name = sorter.device?.name ?? 'host';
    const onEvent = (event: ServeEvent): void => {
      if (args.json) print(console, eventJson(event));
      else if (event.is === 'ready') note(`worker ${event.worker} on ${name}, in ${shared.root}: ready`);
      else if (event.is === 'warning' || event.is === 'failed') say(console, `clsort: ${eventText(event)}`);
      else if (event.is === 'done') note(eventText(event));
    };
    await serve({ url, queue: args.queue, device: name, context, stalled, onEvent });
    return EXIT.ok;
  } finally {
    await (await opening?.catch(() => undefined))?.close();
  }
}

function eventJson(event: ServeEvent): string {
  const schema = 'clsort.worker/1';
  if (event.is !== 'failed') return JSON.stringify({ schema, ...event });
  const { error, ...rest } = event;
  return JSON.stringify({ schema, ...rest, error: { code: codeOf(error), message: error.message } });
}

function eventText(event: Exclude<ServeEvent, { is: 'ready' | 'begin' }>): string {
  if (event.is === 'warning') return `warning: ${event.message}`;
  const what = event.task ? `${event.task.job} ${taskText(event.task)}` : 'a task';
  if (event.is === 'done') return `${what}: done in ${secondsText(event.seconds)}`;
  return `${what} failed${event.again ? ' and will be retried' : ''}: ${event.error.message}`;
}

/** Runs one step of a job, on behalf of a scheduler. */
async function runStep(
  { job: id = '', step, share }: WorkerArguments,
  context: WorkerContext,
  note: (text: string) => void,
): Promise<ExitCode> {
  if (!STEPS.includes(step as Step)) {
    throw missingOption(`run job ${id}`, '--step', `Pass one of ${STEPS.join(', ')}`);
  }
  assertWholeNumber('--share', share, { min: 0 });
  const folder = await JobFolder.find(context.shared, id);
  const job = await readJob(folder);
  if (step === 'batch') {
    const onTask = (task: Task, error?: Error): void =>
      note(`${id} ${taskText(task)}${error ? ` failed: ${error.message}` : ''}`);
    await runBatchShare({ batch: batchOf(job, id), folder, share }, context, onTask);
    return EXIT.ok;
  }
  const sort = sortOf(job, id);
  if (step === 'finish') {
    const { out, n, units, parts } = await runFinish(sort, folder, context);
    note(`${out}: ${grouped(n)} ${units} in ${grouped(parts)} parts, verified`);
    return EXIT.ok;
  }
  const stage = step as Exclude<Step, 'finish' | 'batch'>;
  await runShare({ job: sort, folder, stage, share }, context, (task) => note(`${id} ${taskText(task)}`));
  return EXIT.ok;
}
