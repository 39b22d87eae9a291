/** Jobs that stand for many: patterns of inputs, and outputs whose names follow from them. */
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { factsOfName } from '../io/formats/file-name.js';

/** Finds the files that a pattern means, in order. */
export type Glob = (pattern: string, folder: string) => readonly string[];

/** Signs that mean something to the library, and nothing in the patterns of a manifest. */
const LITERAL_SIGNS = /(?<!\\)[()]|^!/g;

/** Loaded when a manifest has a pattern. */
export async function loadGlob(): Promise<Glob> {
  const { globSync } = await import('tinyglobby');
  return (pattern, folder) => {
    const begin = literalFolder(pattern, folder);
    const rest = pattern.slice(begin.length).replace(/^\/+/, '').replaceAll(LITERAL_SIGNS, '\\$&');
    const found = globSync(rest, { cwd: resolveIn(folder, begin), expandDirectories: false });
    return found.map((name) => join(begin, name)).toSorted();
  };
}

/** The folders that a pattern begins with and that are there by that very name; empty where the first one is not. */
function literalFolder(pattern: string, folder: string): string {
  let begin = pattern.slice(0, pattern.lastIndexOf('/') + 1);
  while (begin !== '' && !existsSync(resolveIn(folder, begin))) {
    begin = begin.slice(0, begin.lastIndexOf('/', begin.length - 2) + 1);
  }
  return begin;
}

/** Has a name characters of a pattern? */
export const isPattern = (name: string): boolean => /[*?[{]/.test(name);

/** Is a name a pattern? A file of that very name comes first. */
export const isGlob = (name: string, folder: string): boolean =>
  isPattern(name) && !existsSync(resolveIn(folder, name));

interface JobTemplate {
  readonly name?: string;
  readonly in: string | readonly string[];
  readonly out: string;
  readonly counts?: string | undefined;
}

export const resolveIn = (folder: string, path: string): string =>
  isAbsolute(path) ? resolve(path) : join(folder, path);

/** The patterns among the inputs of a job. */
export const globsOf = ({ in: inputs }: Pick<JobTemplate, 'in'>, folder: string): readonly string[] =>
  [inputs].flat().filter((input) => isGlob(input, folder));

/**
 * The jobs that a job stands for: one for each file of its pattern, with what follows from its name filled in. A list of inputs
 * is one job, of all files of its patterns.
 *
 * Files of a pattern that such a job makes of another one are left out, or a second run would sort the results of the first;
 * so are those that the batch keeps.
 */
export function expandJob<T extends JobTemplate>(
  job: T,
  {
    folder,
    glob,
    isProtected,
  }: { folder: string; glob: Glob | undefined; isProtected: (path: string) => boolean },
): T[] {
  const inputs = [job.in].flat().flatMap((input) => {
    if (!glob || !isGlob(input, folder))
      return [{ one: fillPaths(job, [input], folder), input, isMatch: false }];
    return glob(input, folder).map((name) => ({
      one: fillPaths(job, [name], folder),
      input: name,
      isMatch: true,
    }));
  });
  const outputs = new Set<string>();
  for (const { one, input } of inputs) {
    const path = resolveIn(folder, input);
    for (const output of [one.out, one.counts])
      if (output !== undefined && output !== path) outputs.add(output);
  }
  const remaining = inputs.filter(({ input, isMatch }) => {
    const path = resolveIn(folder, input);
    return !isMatch || !(outputs.has(path) || isProtected(path));
  });
  if (typeof job.in === 'string') return remaining.map(({ one }) => one);
  const names = remaining.map(({ input }) => input);
  return names.length === 0 ? [] : [fillPaths(job, names, folder)];
}

/** Names of outputs follow from that of the first input. */
function fillPaths<T extends JobTemplate>(job: T, inputs: readonly string[], folder: string): T {
  const paths = inputs.map((input) => resolveIn(folder, input));
  const [path = ''] = paths;
  const { name, out, counts } = job;
  return {
    ...job,
    name: name === undefined ? inputs.join(', ') : fillTemplate(name, path),
    in: typeof job.in === 'string' ? path : paths,
    out: resolveIn(folder, fillTemplate(out, path)),
    ...(counts !== undefined && { counts: resolveIn(folder, fillTemplate(counts, path)) }),
  };
}

/** A name with the parts of a path in the places that it has for them. */
function fillTemplate(text: string, path: string): string {
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
