import { type BigIntStats, lstatSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

/** Files that a job reads and writes, as absolute paths. */
export interface Paths {
  readonly in: string | readonly string[];
  readonly out: string;
  /** A second output. */
  readonly counts?: string | undefined;
}

/** A conflict in a field of a job, by job number. */
export interface Conflict {
  readonly job: number;
  readonly field: 'in' | 'out' | 'counts';
  readonly text: string;
}

interface PathUse {
  readonly job: number;
  readonly path: string;
}

/**
 * Detects conflicts between jobs, which run in no fixed order. No job may write a file that another one reads or
 * writes, under any name. Files of the batch itself are protected. Jobs may be added while others run.
 */
export class Conflicts {
  readonly #identify = createIdentifier();
  readonly #writers = new Map<string, PathUse>();
  readonly #readers = new Map<string, PathUse>();
  readonly #protectedPaths = new Map<string, string>();

  /** Protects a file of the batch, such as the manifest, from being read or written by jobs. */
  protect(path: string, what: string): void {
    for (const key of this.#identify(path)) this.#protectedPaths.set(key, what);
  }

  /** Whether a path names a protected file. */
  isProtected(path: string): boolean {
    return lookUp(this.#protectedPaths, this.#identify(path)) !== undefined;
  }

  /**
   * Adds a job unless it conflicts.
   *
   * @returns the conflict; undefined when the job was added
   */
  add(job: number, paths: Paths): Conflict | undefined {
    const { out, counts } = paths;
    const writes = [
      { field: 'out', path: out } as const,
      ...(counts === undefined ? [] : [{ field: 'counts', path: counts } as const]),
    ].map((write) => ({ ...write, keys: this.#identify(write.path) }));
    const reads = [paths.in].flat().map((path) => ({ path, keys: this.#identify(path) }));
    const own = counts === undefined ? undefined : ownConflict(job, writes, reads);
    if (own) return own;
    for (const write of writes) {
      const conflict = this.#conflictOfOutput(job, write);
      if (conflict) return conflict;
    }
    for (const { path, keys } of reads) {
      const protectedPaths = lookUp(this.#protectedPaths, keys);
      if (protectedPaths)
        return {
          job,
          field: 'in',
          text: `cannot read jobs[${job}].in: it is ${protectedPaths} of this batch`,
        };
      const source = lookUp(this.#writers, keys);
      if (source) return { job, field: 'in', text: overwrites(describeField(source, 'out', path), job) };
    }
    for (const { path, keys } of writes) for (const key of keys) this.#writers.set(key, { job, path });
    for (const { path, keys } of reads) {
      for (const key of keys) if (!this.#readers.has(key)) this.#readers.set(key, { job, path });
    }
    return undefined;
  }

  #conflictOfOutput(job: number, { field, path, keys }: Write): Conflict | undefined {
    const protectedPaths = lookUp(this.#protectedPaths, keys);
    if (protectedPaths)
      return {
        job,
        field,
        text: `cannot write jobs[${job}].${field}: it is ${protectedPaths} of this batch`,
      };
    const writer = lookUp(this.#writers, keys);
    if (writer?.job === job) {
      const text = `cannot write jobs[${job}].${field} (${path}): it is the output of several files of jobs[${job}]. Name each output after its input, as in {name}{ext}`;
      return { job, field, text };
    }
    if (writer) {
      const output = describeField({ job, path }, field, writer.path);
      return { job, field, text: `cannot write ${output}: it is also the output of jobs[${writer.job}]` };
    }
    const reader = lookUp(this.#readers, keys);
    if (!reader) return undefined;
    return { job, field, text: overwrites(describeField({ job, path }, field, reader.path), reader.job) };
  }
}

interface Write {
  readonly field: 'out' | 'counts';
  readonly path: string;
  readonly keys: readonly string[];
}

/** Detects a conflict within a job: only `out` may replace an input. */
function ownConflict(
  job: number,
  [out, counts]: readonly Write[],
  reads: readonly { readonly keys: readonly string[] }[],
): Conflict | undefined {
  const isCounts = (keys: readonly string[]): boolean => keys.some((key) => counts?.keys.includes(key));
  const other = isCounts(out?.keys ?? [])
    ? 'out'
    : reads.some(({ keys }) => isCounts(keys))
      ? 'in'
      : undefined;
  if (!other) return undefined;
  return { job, field: 'counts', text: `cannot write jobs[${job}].counts: it is also jobs[${job}].${other}` };
}

const lookUp = <T>(uses: ReadonlyMap<string, T>, keys: readonly string[]): T | undefined => {
  for (const key of keys) {
    const use = uses.get(key);
    if (use !== undefined) return use;
  }
  return undefined;
};

const overwrites = (output: string, reader: number): string =>
  `cannot write ${output}: it is the input of jobs[${reader}]`;

const describeField = ({ job, path }: PathUse, field: Conflict['field'], other: string): string =>
  `jobs[${job}].${field}${path === other ? '' : ` (${path})`}`;

/** Maximum number of chained symbolic links, as in operating systems. */
const MAX_LINKS = 40;

/**
 * Returns a function that maps a path to identities. Names of the same file through links, mounts or different case
 * share an identity. So do names of a file that does not exist yet, or did not when first identified.
 */
function createIdentifier(): (path: string) => string[] {
  const folders = new Map<string, string>();
  const folderOf = (path: string): string => {
    let folder = folders.get(path);
    if (folder === undefined) {
      folder = idOf(tryStat(statSync, path)) ?? path;
      folders.set(path, folder);
    }
    return folder;
  };
  return (path) => {
    let at = path;
    let stats: BigIntStats | undefined;
    for (let link = 0; link < MAX_LINKS; link++) {
      stats = tryStat(lstatSync, at);
      if (!stats?.isSymbolicLink()) break;
      at = resolve(dirname(at), readlinkSync(at));
    }
    const name = `${folderOf(dirname(at))} ${basename(at)}`;
    return stats && !stats.isSymbolicLink() ? [idOf(stats) as string, name] : [name];
  };
}

/** Returns the status of a path. Errors are ignored here and raised when the job runs. */
function tryStat(
  statPath: (path: string, options: { bigint: true; throwIfNoEntry: false }) => BigIntStats | undefined,
  path: string,
): BigIntStats | undefined {
  try {
    return statPath(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const idOf = (stats: BigIntStats | undefined): string | undefined => stats && `${stats.dev}:${stats.ino}`;
