import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SortOptions } from '../../src/index.js';
import type { SelfTestRecord } from '../../src/util/self-test-records.js';
import { tellingFixture } from '../layer/fixture.js';
import { type LayerControl, layerEnvironment, type Spoof } from '../layer/layer.js';
import { selfTestsIn } from '../self-tests.js';
import { seededCache } from '../test-cache.js';

/** One fault; `none` is a sort without a fault. */
export interface Case {
  /** The `at`th call of one function or of all returns a status without being executed. */
  readonly fail?: { readonly at: number; readonly function?: string; readonly status: number };
  /** The `at`th call takes longer. */
  readonly delay?: { readonly at: number; readonly function?: string; readonly milliseconds: number };
  /** The `at`th read returns a word in which the bits of `mask` are inverted. */
  readonly corrupt?: { readonly at: number; readonly mask: number };
  readonly spoof?: Spoof;
  readonly options?: SortOptions;
}

/** The task of a child process: a sort for each case. */
export interface Task {
  readonly device: string;
  readonly operation: string;
  readonly options: SortOptions;
  readonly cases: readonly Case[];
}

/** The outcome of a case. */
export interface Outcome {
  /** `right`, `wrong`, `late`, the name of a typed error, or `untyped …`. */
  readonly result: string;
  readonly seconds: number;
  /** OpenCL calls that were made, and reads among them. */
  readonly calls: number;
  readonly reads: number;
  /** The function that failed. */
  readonly failed: string;
  /** Objects that remained after the close, and those that remained even after garbage collection. */
  readonly uncollected: LayerControl['live'];
  readonly leaked: LayerControl['live'];
  /** Uses of released objects since the process began. */
  readonly misuses: LayerControl['misuses'];
  /** Uncaught exceptions. */
  readonly stray: readonly string[];
}

export interface Run {
  readonly outcomes: readonly Outcome[];
  /** The results of the self-tests of the run, by variant. */
  readonly selfTests: Readonly<Record<string, SelfTestRecord>>;
  /** How the process ended if it failed, with its last output. */
  readonly ended?: string;
}

const fixture = fileURLToPath(new URL('./fixtures/cases.js', import.meta.url));

/** The statuses that a call is made to fail with: all that report a lack of memory, and a lost queue. */
export const STATUSES = [-4, -5, -6, -36, -61] as const;

/** Time limit of each case, whatever delay the fault causes. */
const SILENCE_SECONDS = 180;

/**
 * Sorts once for each case, all in one process under the layer.
 *
 * @param options.warm whether the device's self-tests have passed before; otherwise the first sorts run them
 * @param options.variables further environment variables
 */
export async function runCases(
  task: Task,
  { warm = true, variables = {} }: { warm?: boolean; variables?: NodeJS.ProcessEnv } = {},
): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-faults-'));
  const control = join(folder, 'control');
  writeFileSync(control, '');
  const cache = join(folder, 'cache');
  const env = {
    ...process.env,
    ...layerEnvironment(control),
    CLSORT_CACHE_DIR: warm ? seededCache(cache) : cache,
    ...variables,
  };
  const all = warm ? { ...task, cases: [{}, ...task.cases] } : task;
  const { outcomes, ended } = await tellingFixture<Outcome>(fixture, all, {
    env,
    silenceSeconds: SILENCE_SECONDS,
    nodeArgs: ['--expose-gc'],
  });
  const selfTests = selfTestsIn(cache);
  rmSync(folder, { recursive: true, force: true });
  return {
    outcomes: warm ? outcomes.slice(1) : outcomes,
    selfTests,
    ...(ended !== undefined && { ended }),
  };
}

/** The problem of an outcome; undefined if the outcome is acceptable for any fault. */
export function problemOf({ result, uncollected, leaked, stray }: Outcome): string | undefined {
  if (result !== 'right' && !/^[A-Z][A-Za-z]+Error$/.test(result)) return result;
  if (Object.keys(leaked).length > 0) return `leaked ${JSON.stringify(leaked)}`;
  if (Object.keys(uncollected).length > 0)
    return `left to the garbage collector: ${JSON.stringify(uncollected)}`;
  if (stray.length > 0) return stray.join('; ');
  return undefined;
}
