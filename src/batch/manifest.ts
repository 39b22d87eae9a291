import { UsageError } from '../util/errors.js';
import { isObject } from '../util/json.js';
import { Conflicts } from './conflicts.js';
import { type Document, readDocument } from './document.js';
import { expandJob, type Glob, globsOf, loadGlob, resolveIn } from './expand.js';
import {
  BATCH_RULES,
  type Batch,
  type Fault,
  fieldFaults,
  JOB_RULES,
  type Job,
  jobOf,
  type WrittenJob,
} from './jobs.js';

/** Maximum number of errors in a message, so that it fits on a screen. */
const MAX_ERRORS = 10;

export interface ManifestSource {
  /** Name for messages. */
  readonly name: string;
  /** Folder that relative paths refer to. */
  readonly folder: string;
  /** Files that no job may read or write, and their role in this batch. */
  readonly protectedFiles?: readonly (readonly [path: string, what: string])[];
}

/**
 * Parses a manifest: `{ "devices"?, "defaults"?, "jobs": [{ "in", "out", "dtype"?, … }] }` as JSON or YAML, a list of
 * jobs, or one job per line. Jobs inherit missing fields from `defaults`. An input may be a glob pattern. Paths are
 * relative to `folder`.
 *
 * @param text the manifest
 * @param source name, folder and protected files
 * @throws UsageError with the first ten errors, each with file, line and field
 */
export async function parseManifest(
  text: string,
  { name, folder, protectedFiles = [] }: ManifestSource,
): Promise<Batch> {
  const document = await readDocument(text, name);
  const isList = Array.isArray(document.value);
  const batch = isList ? { jobs: document.value } : document.value;
  if (!isObject(batch) || batch.jobs === undefined || batch.jobs === null) {
    throw new UsageError(
      `cannot read ${name} as a manifest: it has no jobs. Write { "jobs": [{ "in": …, "out": … }] }`,
    );
  }
  const faultsOf = (faults: readonly Fault[]) => assertNoFaults(faults, name, document, isList);
  faultsOf(fieldFaults(batch, BATCH_RULES, [])); // the fields below have the right types from here on
  const { devices = [], defaults = {}, jobs = [] } = batch as Partial<WrittenManifest>;
  const faults = fieldFaults(defaults, JOB_RULES, ['defaults']);
  const numbered: NumberedJob[] = [];
  for (const [number, one] of jobs.entries()) {
    const job = jobOf(one, defaults, ['jobs', number], faults);
    if (job) numbered.push({ job, number });
  }
  const glob = numbered.some(({ job }) => globsOf(job, folder).length > 0) ? await loadGlob() : undefined;
  const conflicts = new Conflicts();
  for (const [path, what] of protectedFiles) conflicts.protect(path, what);
  const made = numbered.flatMap((one) => jobsOf(one, { folder, glob, conflicts }, faults));
  faultsOf(faults);
  return { devices, jobs: made };
}

interface WrittenManifest {
  readonly devices: string[];
  readonly defaults: Record<string, unknown>;
  readonly jobs: unknown[];
}

interface NumberedJob {
  readonly job: WrittenJob;
  readonly number: number;
}

/** Context of job expansion. */
export interface ExpansionContext {
  readonly folder: string;
  readonly glob: Glob | undefined;
  readonly conflicts: Conflicts;
}

/** Expands a written job and reports conflicts with earlier jobs. */
export function jobsOf(
  { job, number }: NumberedJob,
  { folder, glob, conflicts }: ExpansionContext,
  faults: Fault[],
): Job[] {
  const isProtected = (path: string): boolean => conflicts.isProtected(path);
  const jobs = expandJob(job, { folder, glob, isProtected }) as Job[];
  if (jobs.length === 0) {
    faults.push({
      path: ['jobs', number, 'in'],
      text: `cannot read jobs[${number}].in: no file matches ${globsOf(job, folder).join(', ')}`,
    });
  }
  for (const one of jobs) {
    const conflict = conflicts.add(number, one);
    if (conflict) faults.push({ path: ['jobs', number, conflict.field], text: conflict.text });
  }
  return job.tmp === undefined
    ? jobs
    : jobs.map((one) => ({ ...one, tmp: resolveIn(folder, job.tmp as string) }));
}

function assertNoFaults(faults: readonly Fault[], name: string, { at }: Document, isList: boolean): void {
  if (faults.length === 0) return;
  const visible = faults
    .slice(0, MAX_ERRORS)
    .map(({ path, text }) => `\n  ${at(isList ? path.slice(1) : path)}: ${text}`);
  const more = faults.length > MAX_ERRORS ? `\n  and ${faults.length - MAX_ERRORS} more` : '';
  throw new UsageError(`cannot run ${name}:${visible.join('')}${more}`, {
    details: { errors: faults.map(({ text }) => text) },
  });
}
