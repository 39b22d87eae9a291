/** Sessions of external sorts: the state folder, its reuse, and its removal. */
import { createHash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { InputError, UsageError } from '../../util/errors.js';
import type { TemporaryFiles } from '../streams/output.js';
import { isStdout } from '../streams/raw.js';
import { resolveTarget } from '../streams/resolve-target.js';
import { thisProcess } from '../streams/temporary-files.js';
import { type InputIdentity, identityOf, isRegular } from './input.js';
import type { ExternalJob } from './job.js';
import { partPath } from './resumable-output.js';
import { type Manifest, State } from './state.js';
import { assertFolder, temporaryFolder } from './temporary-folder.js';

/** Properties that a resumed sort must share with the interrupted one. */
export type SortIdentity = Pick<ExternalJob, 'input' | 'order' | 'orderName' | 'out' | 'tmp' | 'verify'>;

/** The folder of a sort: either kept after an interruption, or always removed. */
export interface Session {
  readonly folder: string;
  /** Undefined when the sort cannot be resumed. */
  readonly state: State | undefined;
  readonly identity: InputIdentity | undefined;
  /** Manifest of the sort to resume; undefined for a new sort. */
  readonly manifest: Manifest | undefined;
}

/** Whether the output has a name and the input can be read again. */
async function isResumable({ input, out }: Pick<SortIdentity, 'input' | 'out'>): Promise<boolean> {
  if (isStdout(out) || !(await isRegular(input.path))) return false;
  const existing = await stat(out).catch(() => undefined);
  return existing === undefined || existing.isFile();
}

/** Returns the state folder of an output: hidden next to it, or in the folder for temporary files. */
export async function stateFolder(out: string, tmp: string | undefined): Promise<string> {
  const target = resolve(await resolveTarget(out).catch(() => out));
  // Names are cut, so a hash distinguishes outputs with a common prefix.
  const stateKey = tmp === undefined ? basename(target) : target;
  const hash = createHash('sha256').update(stateKey).digest('hex').slice(0, 12);
  const name = `${basename(target).slice(0, 40)}-${hash}.clsort-state`;
  return tmp === undefined ? join(dirname(target), `.${name}`) : join(tmp, name);
}

/** Describes the interrupted sort to an output, and the options that apply to it; undefined when there is none. */
export async function describeUnfinished(out: string, tmp: string | undefined): Promise<string | undefined> {
  if (isStdout(out)) return undefined;
  const folder = await stateFolder(out, tmp);
  const found = await State.find(folder);
  if (!found) return undefined;
  return (
    `${folder} holds the state of an interrupted sort of ${found.input.name}. Use --resume to continue it, ` +
    'or --restart to discard it'
  );
}

/**
 * Removes the state of an interrupted sort to an output.
 *
 * @throws IoError when removal fails or another process is using it
 */
export async function discardUnfinished(out: string, tmp: string | undefined): Promise<void> {
  if (isStdout(out)) return;
  const folder = await stateFolder(out, tmp);
  const found = await State.find(folder);
  if (!found) return;
  const state = await State.open(folder);
  await state.remove();
  if (found.part) await rm(await partPath(out, found.part), { force: true });
}

/**
 * Opens the session of a sort.
 *
 * @param same properties of the sort
 * @param resume resume an interrupted sort; without it an existing state is an error, since it may hold hours of work
 * @param temporaryFiles registry of temporary files
 * @throws UsageError when there is a state and `resume` is not set, or when options differ
 * @throws IoError when the folder cannot be used
 * @throws InputError when the input has changed since the interruption
 */
export async function openSession(
  same: SortIdentity,
  resume: boolean,
  temporaryFiles?: TemporaryFiles,
): Promise<Session> {
  const { input, out, tmp } = same;
  await assertFolder(tmp);
  if (!(await isResumable(same))) {
    const folder = await temporaryFolder({ name: input.name, out, tmp }, temporaryFiles);
    return { folder, state: undefined, identity: undefined, manifest: undefined };
  }
  const folder = await stateFolder(out, tmp);
  const identity = await identityOf(input.path as string);
  const state = await State.open(folder);
  const found = await State.find(folder);
  if (found && !resume) {
    throw new UsageError(`cannot sort to ${out}: ${await describeUnfinished(out, tmp)}`, {
      details: { path: folder },
    });
  }
  if (found) assertSameSort(found, same, identity);
  if (!found || !(await isStateValid(found, state, out))) {
    if (found?.part) await rm(await partPath(out, found.part), { force: true });
    await state.remove({ keepFolder: true });
    return { folder, state, identity, manifest: undefined };
  }
  return { folder, state, identity, manifest: found };
}

/** Whether the data of all task records exist. Unsynced data may be missing after a reboot. */
async function isStateValid({ boot, part }: Manifest, state: State, out: string): Promise<boolean> {
  const isThere = part && (await stat(await partPath(out, part)).catch(() => undefined));
  if (part && !isThere && (await state.has('sorted-'))) return false;
  return boot === thisProcess().boot || (await state.get('synced')) !== undefined;
}

/**
 * @throws InputError when the input has changed
 * @throws UsageError when the options differ
 */
function assertSameSort(
  found: Manifest,
  { order, orderName, input, verify }: SortIdentity,
  identity: InputIdentity,
): void {
  const was = found.input;
  const differs = (['bytes', 'modified', 'checksum'] as const).find((fact) => was[fact] !== identity[fact]);
  if (differs) {
    const facts = { bytes: 'size', modified: 'time of change', checksum: 'contents' };
    throw new InputError(
      `cannot resume the sort of ${was.name}: the ${facts[differs]} of ${input.name} has changed. ` +
        'Use --restart instead of --resume to sort anew',
      { details: { path: input.name, was, is: identity } },
    );
  }
  if (found.unit !== order.recordBytes || found.order !== orderName) {
    throw new UsageError(
      `cannot resume the sort: it is one of ${found.order}, and this one is of ${orderName}. Pass the same options`,
      { details: { was: found.order, is: orderName } },
    );
  }
  if (verify && found.points === undefined) {
    throw new UsageError(
      'cannot verify the resumed sort: it began without --verify. Omit --verify, and check the result with ' +
        "'clsort check'",
    );
  }
}
