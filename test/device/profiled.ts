import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tuning } from '../../src/algorithms/parameters.js';
import type { Dtype } from '../../src/index.js';
import { tellingFixture } from '../layer/fixture.js';
import { LayerControl, layerEnvironment } from '../layer/layer.js';
import { profileFile } from '../layer/profile-file.js';
import { seededCache, shareCache } from '../test-cache.js';
import type { Profile } from './profiles.js';

/** One sort by a named algorithm, or one operation through the planner. */
export interface Case {
  readonly algorithm?: string;
  readonly operation?: string;
  readonly dtype: Dtype;
  readonly n: number;
  readonly valueBytes: 0 | 4 | 8;
  readonly descending: boolean;
  readonly tuning?: Tuning;
}

/** The task of a process under the layer. */
export interface Task {
  readonly cases: readonly Case[];
}

export interface Profiled {
  readonly outcomes: readonly { readonly result: string; readonly warnings: readonly string[] }[];
  /** Maximum local memory that a kernel declared, and how often one declared more than the device has. */
  readonly local: { readonly maxBytes: number; readonly refused: number };
  /** How the process ended if it failed, with its last output. */
  readonly ended?: string;
}

const fixture = fileURLToPath(new URL('./fixtures/profiled.js', import.meta.url));

/** Time limit of one case on a loaded machine. */
const SILENCE_SECONDS = 900;

/** The environment of a process in which PoCL answers as a profile says; its files are in the folder. */
export function profileEnvironment(
  profile: Profile,
  folder: string,
): NodeJS.ProcessEnv & { CLSORT_CACHE_DIR: string } {
  const path = (name: string) => join(folder, name);
  writeFileSync(path('control'), '');
  writeFileSync(path('profile'), profileFile(profile));
  return {
    ...layerEnvironment(path('control')),
    CLSORT_LAYER_PROFILE: path('profile'),
    CLSORT_INLINE_PTX: 'off',
    CLSORT_TUNING: 'on',
    CLSORT_PROGRAM_CACHE: 'never',
    CLSORT_POLICY: 'firstBuild=off',
    CLSORT_CACHE_DIR: seededCache(path('cache')),
  };
}

/**
 * Runs cases on PoCL while it answers as a profile says, without inline PTX.
 *
 * @param variables further environment variables
 */
export async function runProfiled(
  profile: Profile,
  cases: readonly Case[],
  variables: NodeJS.ProcessEnv = {},
): Promise<Profiled> {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-profile-'));
  const env = { ...process.env, ...profileEnvironment(profile, folder), ...variables };
  const control = new LayerControl(join(folder, 'control'));
  const output = await tellingFixture<Profiled['outcomes'][number]>(
    fixture,
    { cases },
    { env, silenceSeconds: SILENCE_SECONDS },
  );
  const { local } = control;
  control.close();
  shareCache(env.CLSORT_CACHE_DIR);
  rmSync(folder, { recursive: true, force: true });
  return { ...output, local };
}
