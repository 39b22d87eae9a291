import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { layerEnvironment } from '../../layer/layer.js';
import { generate, type Shape } from './generate.js';
import type { Traits } from './model.js';
import type { Order } from './play.js';
import { textOf } from './program.js';
import { type Session, session } from './session.js';

export interface Hunt {
  /** Name of the device, as in CLSORT_TEST_DEVICES. */
  readonly device: string;
  readonly env: NodeJS.ProcessEnv;
  readonly shape: Shape;
  /** Milliseconds without output after which a process counts as hung. */
  readonly patience: number;
  /** The node that runs the programs; this one by default. */
  readonly node?: string;
  readonly plant?: Order['plant'];
  /** Runs a process under gdb, for the stacks of all threads. */
  readonly debugger?: boolean;
}

type Keep = Readonly<Record<number, readonly number[]>>;

/** The failure of a session. */
export interface Finding {
  readonly seed: number;
  readonly device: string;
  /** Kind of the failure: the same for the same fault, as far as can be determined. */
  readonly signature: string;
  /** Output of the process about the failure, with all numbers. */
  readonly detail: string;
  /** The last call that was started, and its step. */
  readonly last: string;
  readonly at?: { readonly program: number; readonly step: number };
  readonly stderr: string;
  readonly keep?: Keep;
  readonly traits: Traits;
}

/** Statistics of a session. */
export interface Outcome {
  readonly finding?: Finding;
  readonly succeeded: number;
  readonly refused: number;
}

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const EXPECTED = {
  natural: 0,
  exit: 7,
  'releaseAll, exit': 7,
  'exit in exit': 7,
  throw: 1,
  terminate: 1,
} as const;

/**
 * Lines in which sanitizers, drivers and the C library report why they end a process. A failed allocation that a
 * program requested is an expected error, and only a warning of these tools.
 */
const TELLING =
  /(AddressSanitizer(?! failed to allocate)|runtime error|Assertion|terminate called|FATAL ERROR|Fatal error|free\(\)|malloc\(\)|double free|corrupt)[^\n]*/;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly hung: boolean;
  readonly stderr: string;
  readonly trace: readonly string[];
}

/** An idle thread of the addon. */
const IDLE = /pthread_cond_.*\n#5 .*clsort::(Environment::Work|Waits::)/;

/** Threads in calls of the binding, and the main thread; not idle threads of Node and of drivers. */
const tellingThreads = (text: string): string =>
  text
    .split(/\n(?=Thread )/)
    .filter((thread) => /clsort|^Thread 1 /.test(thread) && !IDLE.test(thread))
    .join('\n');

/** The stacks of a hanging process; empty if the debugger hangs as well. */
function stacks(pid: number): Promise<string> {
  const { LD_PRELOAD: _sanitizer, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(
      'gdb',
      ['-p', String(pid), '-batch', '-ex', 'thread apply all bt 14'],
      { maxBuffer: 1 << 26, env, timeout: 120_000, killSignal: 'SIGKILL' },
      (_error, stdout) => resolve(tellingThreads(stdout ?? '')),
    );
  });
}

/** Kills a process that is silent for too long. */
function watch(
  child: ChildProcess,
  patience: number,
  hung: (stacks: string) => void,
): { alive(): void; stop(): void } {
  let timer: NodeJS.Timeout;
  const late = async (): Promise<void> => {
    hung(await stacks(child.pid ?? 0));
    child.kill('SIGKILL');
  };
  const alive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void late(), patience);
  };
  alive();
  return { alive, stop: () => clearTimeout(timer) };
}

function execute(hunt: Hunt, order: Order, { layer }: Session): Promise<Ended> {
  const folder = layer ? mkdtempSync(join(tmpdir(), 'clsort-fuzz-')) : undefined;
  const control = folder ? join(folder, 'control') : '';
  if (folder) writeFileSync(control, '');
  const args = ['--expose-gc', CHILD, JSON.stringify(order)];
  const node = hunt.node ?? process.execPath;
  // A preloaded sanitizer must be loaded into the debugged process, not into the debugger.
  const { LD_PRELOAD: loaded, ...ownEnv } = process.env;
  const [command, ...rest] = hunt.debugger
    ? [
        ...['gdb', '-batch', ...(loaded ? ['-ex', `set environment LD_PRELOAD ${loaded}`] : [])],
        ...['-ex', 'run', '-ex', 'thread apply all bt 16', '--args', node, ...args],
      ]
    : [node, ...args];
  const child = spawn(command as string, rest, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: {
      ...(hunt.debugger ? ownEnv : process.env),
      ...hunt.env,
      CLSORT_TEST_DEVICES: hunt.device,
      ...(folder ? layerEnvironment(control) : {}),
    },
  });
  let stderr = '';
  let trace = '';
  let hung = false;
  const watchdog = watch(child, hunt.patience, (text) => {
    hung = true;
    stderr += text;
  });
  const heard = (data: Buffer): void => {
    watchdog.alive();
    stderr = (stderr + data.toString()).slice(-200_000);
  };
  child.stdout?.on('data', heard);
  child.stderr?.on('data', heard);
  child.stdio[3]?.on('data', (data: Buffer) => {
    watchdog.alive();
    trace += data.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      watchdog.stop();
      if (folder) rmSync(folder, { recursive: true, force: true });
      resolve({ code, signal, hung, stderr, trace: trace.split('\n') });
    });
  });
}

/** A driver was asked to copy memory that holds an object over itself; the result is the program's fault. */
const OVER_ITSELF = /memcpy-param-overlap/;

/** The fault in how a process ended, if any. */
function signatureOf(ended: Ended, { ending }: Session, partial: boolean): string | undefined {
  const violation = ended.trace.find((line) => line.startsWith('V '));
  const message = TELLING.exec(ended.stderr)?.[0] ?? '';
  if (violation) return violation.slice(2).replaceAll(/s?\d+/g, '#').slice(0, 200);
  if (ended.hung) return 'hang';
  if (OVER_ITSELF.test(message)) return undefined;
  const plain = message.replaceAll(/0x[0-9a-f]+|==\d+==|\d+/g, '#').slice(0, 160);
  if (ended.signal) return `${ended.signal} ${plain}`.trim();
  if (/AddressSanitizer|runtime error/.test(message)) return plain;
  // A program whose last step was cut may end differently.
  const expected = [EXPECTED[ending], ...(partial ? Object.values(EXPECTED) : [])];
  if (!expected.includes(ended.code as 0)) return `exit code ${ended.code} ${plain}`.trim();
  return undefined;
}

/** Runs the session of a seed, or its remaining steps. */
export async function attempt(hunt: Hunt, seed: number, keep?: Keep): Promise<Outcome> {
  const { shape, plant } = hunt;
  const order: Order = { seed, shape, ...(keep ? { keep } : {}), ...(plant === undefined ? {} : { plant }) };
  const threads = !['clover', 'oclgrind'].includes(hunt.device);
  const planned = session(seed, threads, shape);
  const ended = await execute(hunt, order, planned);
  const sum = (at: number): number =>
    ended.trace.reduce((all, line) => all + (line.startsWith('c ') ? Number(line.split(' ')[at]) : 0), 0);
  const counts = { succeeded: sum(2), refused: sum(3) };
  const signature = signatureOf(ended, planned, keep !== undefined);
  if (signature === undefined) return counts;
  const [traitsLine] = ended.trace.filter((line) => line.startsWith('T '));
  if (!traitsLine) throw new Error(`no session could begin on ${hunt.device}:\n${ended.stderr}`);
  const traits = JSON.parse(traitsLine.slice(2)) as Traits;
  const last = ended.trace.filter((line) => /^[sE] /.test(line)).at(-1) ?? '';
  const [, index, id] = last.split(' ').map(Number);
  const step = last.startsWith('s')
    ? stepOf(seed, traits, shape, index ?? 0, id ?? 0, threads)
    : last.slice(2);
  return {
    ...counts,
    finding: {
      seed,
      device: hunt.device,
      signature,
      detail: ended.trace.find((line) => line.startsWith('V '))?.slice(2) ?? '',
      last: step,
      stderr: ended.stderr,
      traits,
      ...(keep ? { keep } : {}),
    },
  };
}

function stepOf(
  seed: number,
  traits: Traits,
  shape: Shape,
  index: number,
  id: number,
  threads: boolean,
): string {
  const planned = session(seed, threads, shape).programs[index];
  const step = planned && generate(planned.seed, traits, planned.shape).steps.find((of) => of.id === id);
  return step ? textOf(step) : `an inner call of program ${index}`;
}

const isSame = (a: Finding, b: Finding | undefined): boolean =>
  b !== undefined &&
  (a.signature === b.signature || (a.signature.startsWith('SIG') && b.signature.startsWith('SIG')));

/**
 * Removes programs and steps as long as the session fails in the same way.
 *
 * @param until `performance.now()` at which it stops
 * @returns the smallest failing session; the finding itself if it does not recur
 */
export async function shrink(hunt: Hunt, finding: Finding, until: number): Promise<Finding> {
  const { seed, traits } = finding;
  const { programs } = session(seed, !traits.singleThreaded, hunt.shape);
  const all = programs.map((of) => generate(of.seed, traits, of.shape).steps.map(({ id }) => id));
  let keep: Keep = Object.fromEntries(all.map((ids, i) => [i, ids]));
  let smallest = finding;
  const fails = async (candidate: Keep): Promise<boolean> => {
    if (performance.now() > until) return false;
    const { finding: again } = await attempt(hunt, seed, candidate);
    if (!again || !isSame(finding, again)) return false;
    keep = candidate;
    smallest = again;
    return true;
  };
  const without = (index: number): Keep =>
    Object.fromEntries(Object.entries(keep).filter(([i]) => Number(i) !== index));
  const { program = 0, step = -1 } = finding.at ?? {};
  const alone = all[program] ?? [];
  if (!(await fails({ [program]: alone }))) {
    for (const { index } of programs) if (index !== program) await fails(without(index));
  }
  const upTo = (ids: readonly number[]): Keep => ({ ...keep, [program]: ids.filter((id) => id <= step) });
  if (step >= 0) await fails(upTo(keep[program] ?? []));
  for (const index of Object.keys(keep).map(Number)) {
    // From the end: the last steps depend on the first ones.
    for (let chunk = Math.ceil((keep[index]?.length ?? 0) / 2); chunk >= 1; chunk = Math.floor(chunk / 2)) {
      for (let end = keep[index]?.length ?? 0; end > 0; end -= chunk) {
        const ids = keep[index] ?? [];
        const start = Math.max(0, end - chunk);
        await fails({ ...keep, [index]: [...ids.slice(0, start), ...ids.slice(end)] });
      }
    }
  }
  return smallest;
}

/** Maximum number of lines of an unshrunk program, and of a process's output. */
const MANY = 40;

/** Text of a finding: how to repeat it, and the remaining calls. */
export function describe(finding: Finding, hunt: Hunt): string {
  const { seed, traits, keep, stderr, at } = finding;
  const { programs, ending, layer, copies } = session(seed, !traits.singleThreaded, hunt.shape);
  const lines = programs
    .filter(({ index }) => (keep ? keep[index] : index === at?.program))
    .flatMap(({ index, seed: own, shape, worker, ending: workerEnding }) => {
      const { steps } = generate(own, traits, shape);
      const left = steps.filter(({ id }) => (keep ? keep[index]?.includes(id) : id <= (at?.step ?? 0)));
      const where = worker ? `on a worker that ends by ${workerEnding}` : 'on the main thread';
      return [
        `  program ${index}, ${where}:`,
        ...left.slice(keep && left.length <= MANY ? 0 : -12).map((step) => `    ${textOf(step)}`),
      ];
    });
  const modes = [
    `ends by ${ending}`,
    ...(layer ? ['under the layer'] : []),
    ...(copies ? ['mappings copied'] : []),
  ];
  const { length, without } = hunt.shape;
  const options = [`--length ${length}`, ...(without.length > 0 ? [`--without '${without}'`] : [])].join(' ');
  const output = stderr.trim().split('\n');
  const message = (finding.signature === 'hang' ? output.slice(0, 2 * MANY) : output.slice(-MANY)).map(
    (line) => line.slice(0, 160),
  );
  return [
    `FINDING ${finding.signature}`,
    `  node scripts/fuzz.mjs --device ${finding.device} ${options} --replay ${seed}`,
    ...(finding.detail ? [`  ${finding.detail.slice(0, 300)}`] : []),
    `  last call: ${finding.last}`,
    `  the session ${modes.join(', ')}${keep ? '' : '; it failed once, and not again'}`,
    ...lines,
    ...(stderr.trim() ? ['  said:', ...message.map((line) => `    ${line}`)] : []),
  ].join('\n');
}
