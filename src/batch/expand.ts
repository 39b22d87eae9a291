/** Expansion of job patterns: one job per input file, with output names derived from it. */
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { factsOfName } from '../io/formats/file-name.js';

/** Returns the files that match a pattern, sorted. */
export type Glob = (pattern: string, folder: string) => readonly string[];

/** Characters with a meaning in the glob library but not in manifests. */
const LITERAL_SIGNS = /(?<!\\)[()]|^!/g;

/** Loads the glob library, which only manifests with patterns need. */
export async function loadGlob(): Promise<Glob> {
  const { globSync } = await import('tinyglobby');
  return (pattern, folder) => {
    const begin = literalFolder(pattern, folder);
    const rest = pattern.slice(begin.length).replace(/^\/+/, '').replaceAll(LITERAL_SIGNS, '\\$&');
    const found = globSync(rest, { cwd: resolveIn(folder, begin), expandDirectories: false });
    return found.map((name) => join(begin, name)).toSorted();
  };
}

/** Returns the leading folders of a pattern that exist literally; empty when the first one does not. */
function literalFolder(pattern: string, folder: string): string {
  let begin = pattern.slice(0, pattern.lastIndexOf('/') + 1);
  while (begin !== '' && !existsSync(resolveIn(folder, begin))) {
    begin = begin.slice(0, begin.lastIndexOf('/', begin.length - 2) + 1);
  }
  return begin;
}

/** Whether a name contains pattern characters. */
export const isPattern = (name: string): boolean => /[*?[{]/.test(name);

/** Whether a name is a pattern; an existing file of that name takes precedence. */
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

/** Returns the patterns among the inputs of a job. */
export const globsOf = ({ in: inputs }: Pick<JobTemplate, 'in'>, folder: string): readonly string[] =>
  [inputs].flat().filter((input) => isGlob(input, folder));

/**
 * Expands a job: one job per file that matches its pattern, with the placeholders of its names filled in. A list of
 * inputs becomes one job with all files that match its patterns.
 *
 * Matches that are outputs of another expanded job are excluded, so that a second run does not sort the results of the
 * first. Protected files of the batch are excluded as well.
 *
 * @param job the job with patterns
 * @param context folder of relative names, glob function, and test for protected files
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

/** Fills the placeholders in output names from the first input. */
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

/** Replaces the placeholders `{dir}`, `{name}` and `{ext}`. */
function fillTemplate(text: string, path: string): string {
  if (!text.includes('{')) return text;
  const parts = partsOf(path);
  return text.replaceAll(/\{(dir|name|ext)\}/g, (_, part: keyof typeof parts) => parts[part]);
}

/** Returns folder, stem and extension with its dot; a compressed file has both extensions: `.f64.gz`. */
function partsOf(path: string): { dir: string; name: string; ext: string } {
  const file = basename(path);
  const { compression } = factsOfName(file);
  const outer = compression ? `.${compression.extension}` : '';
  const inner = file.slice(0, file.length - outer.length);
  const [own = ''] = /(?<=.)\.[^.]*$/.exec(inner) ?? [];
  const ext = own + file.slice(inner.length);
  return { dir: dirname(path), name: file.slice(0, file.length - ext.length), ext };
}
