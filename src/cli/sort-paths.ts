/** Resolves the inputs and outputs of `sort`: all inputs to one output, or each to a file in a folder. */
import { basename, join, resolve } from 'node:path';
import { factsOfName } from '../io/formats/file-name.js';
import { formatNamed } from '../io/formats/keys.js';
import { makeFolder } from '../io/streams/folder.js';
import { isStdin } from '../io/streams/raw.js';
import { UsageError } from '../util/errors.js';
import { withAdvice } from '../util/invalid-argument.js';
import { cannotCombine } from './option-errors.js';
import type { SortPaths } from './options/sort-paths.js';

/** Inputs and output of one sort. */
export interface SortPath {
  readonly in: string | readonly string[];
  readonly out: string;
}

/**
 * Returns the sorts that the paths define, and creates the output folder.
 *
 * @throws UsageError when `--out` and `--out-dir` are both given, or when outputs collide
 * @throws IoError when the folder cannot be created
 */
export async function sortFiles(
  { in: inputs, out, 'out-dir': folder }: SortPaths,
  result: { readonly argsort: boolean; readonly to: string },
): Promise<SortPath[]> {
  if (out !== undefined && folder !== undefined) {
    throw cannotCombine('--out', '--out-dir', 'one sorts the files together, the other each alone');
  }
  if (folder === undefined) return [{ in: inputs, out: out ?? '-' }];
  const files: SortPath[] = [];
  for (const input of inputs) {
    if (isStdin(input))
      throw new UsageError('cannot sort stdin with --out-dir: it has no file name. Pass --out');
    const path = join(folder, nameOfResult(input, result));
    const other = files.find((file) => file.out === path);
    if (other)
      throw new UsageError(`cannot sort ${other.in} and ${input} with --out-dir: both would become ${path}`);
    files.push({ in: input, out: path });
  }
  if (files.length > 1) await assertApart(files);
  await makeFolder(folder);
  return files;
}

/**
 * Files are sorted concurrently, so no output may be an input or another output, under any name.
 *
 * @throws UsageError when there is such a conflict
 */
async function assertApart(files: readonly SortPath[]): Promise<void> {
  // Loaded on demand: other sorts do not need it.
  const { Conflicts } = await import('../batch/conflicts.js');
  const conflicts = new Conflicts();
  for (const [i, { in: input, out }] of files.entries()) {
    const conflict = conflicts.add(i, { in: [input].flat().map((path) => resolve(path)), out: resolve(out) });
    if (!conflict) continue;
    const message =
      conflict.field === 'in'
        ? `cannot sort ${input}: the result of another file would replace it`
        : `cannot write ${out}: it is another input, or its result`;
    throw new UsageError(withAdvice(message, 'Pass another folder with --out-dir'));
  }
}

/** Returns the name of the input, with another extension when the result has another format or dtype. */
function nameOfResult(
  input: string,
  { argsort, to }: { readonly argsort: boolean; readonly to: string },
): string {
  const name = basename(input);
  const { compression, named } = factsOfName(name);
  const smaller = compression ? `.${compression.extension}` : '';
  const inner = name.slice(0, name.length - smaller.length);
  const stem = inner.replace(/(?<=.)\.[^.]*$/, '');
  const format = formatNamed(to);
  if (format) return `${stem}.${format.extensions[0] ?? format.id}${format.compressible ? smaller : ''}`;
  return argsort && named ? `${stem}.u32${named.bigEndian ? 'be' : ''}${smaller}` : name;
}
