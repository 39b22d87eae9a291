/** Jobs that stand for many: patterns of inputs, and outputs whose names follow from them. */
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { factsOfName } from '../io/formats/file-name.js';

/** Finds the files that a pattern means, in order. */
export type Glob = (pattern: string, folder: string) => readonly string[];

/** Loaded when a manifest has a pattern. */
export async function loadGlob(): Promise<Glob> {
  const { globSync } = await import('tinyglobby');
  return (pattern, folder) =>
    globSync(pattern, { cwd: folder, absolute: isAbsolute(pattern), expandDirectories: false }).toSorted();
}

/** Has a name characters of a pattern? */
export const isPattern = (name: string): boolean => /[*?[{]/.test(name);

/** Is a name a pattern? A file of that very name comes first. */
export const isGlob = (name: string, folder: string): boolean =>
  isPattern(name) && !existsSync(within(folder, name));

interface Named {
  readonly name?: string;
  readonly in: string | readonly string[];
  readonly out: string;
  readonly counts?: string | undefined;
}

export const within = (folder: string, path: string): string =>
  isAbsolute(path) ? resolve(path) : join(folder, path);

/** The patterns among the inputs of a job. */
export const globsOf = ({ in: inputs }: Pick<Named, 'in'>, folder: string): readonly string[] =>
  [inputs].flat().filter((input) => isGlob(input, folder));

/**
 * The jobs that a job stands for: one for each file of its pattern, with what follows from its name filled in. A list of inputs
 * is one job, of all files of its patterns.
 *
 * Files that are what such a job makes of another one are left out, or a second run would sort the results of the first.
 */
export function expanded<T extends Named>(job: T, folder: string, glob: Glob | undefined): T[] {
  const matchesOf = (input: string): readonly string[] =>
    glob && isGlob(input, folder) ? glob(input, folder) : [input];
  if (typeof job.in !== 'string') {
    const inputs = job.in.flatMap(matchesOf);
    return inputs.length === 0 ? [] : [filled(job, inputs, folder)];
  }
  const jobs = matchesOf(job.in).map((input) => filled(job, [input], folder));
  if (jobs.length < 2) return jobs;
  const made = new Map(jobs.map(({ in: input, out }) => [out, input]));
  return jobs.filter(({ in: input }) => (made.get(input as string) ?? input) === input);
}

/** Names of outputs follow from that of the first input. */
function filled<T extends Named>(job: T, inputs: readonly string[], folder: string): T {
  const paths = inputs.map((input) => within(folder, input));
  const [path = ''] = paths;
  const { name, out, counts } = job;
  return {
    ...job,
    name: name === undefined ? inputs.join(', ') : filledIn(name, path),
    in: typeof job.in === 'string' ? path : paths,
    out: within(folder, filledIn(out, path)),
    ...(counts !== undefined && { counts: within(folder, filledIn(counts, path)) }),
  };
}

/** A name with the parts of a path in the places that it has for them. */
function filledIn(text: string, path: string): string {
  if (!text.includes('{')) return text;
  const parts = partsOf(path);
  return text.replaceAll(/\{(dir|name|ext)\}/g, (_, part: keyof typeof parts) => parts[part]);
}

/** Folder, stem, and extension with its dot; that of a compressed file is both: `.f64.gz`. */
function partsOf(path: string): { dir: string; name: string; ext: string } {
  const file = basename(path);
  const { compression } = factsOfName(file);
  const outer = compression ? `.${compression.extension}` : '';
  const inner = file.slice(0, file.length - outer.length);
  const [own = ''] = /(?<=.)\.[^.]*$/.exec(inner) ?? [];
  const ext = own + file.slice(inner.length);
  return { dir: dirname(path), name: file.slice(0, file.length - ext.length), ext };
}
