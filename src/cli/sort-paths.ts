/** What `sort` reads and where it writes: all inputs together to one output, or each to a folder. */
import { basename, join, resolve } from 'node:path';
import { makeFolder } from '../io/folder.js';
import { factsOfName } from '../io/formats/file-name.js';
import { formatNamed } from '../io/keys.js';
import { isStdin } from '../io/raw.js';
import { UsageError } from '../util/errors.js';
import type { SortPaths } from './options/sort-paths.js';

/** One sort: from where to where. */
export interface SortPath {
  readonly in: string | readonly string[];
  readonly out: string;
}

/**
 * The sorts that the paths ask for.
 *
 * @throws UsageError where there is no output, or two ways of it, or one for two inputs; IoError
 */
export async function sortFiles(
  { in: inputs, out, 'out-dir': folder }: SortPaths,
  result: { readonly argsort: boolean; readonly to: string },
): Promise<SortPath[]> {
  if (out !== undefined && folder !== undefined) {
    throw new UsageError('--out is for all files together and --out-dir for each alone: give one of them');
  }
  if (out !== undefined) return [{ in: inputs, out }];
  if (folder === undefined) {
    throw new UsageError("no output: name one, as in '-o sorted.u32', or a folder with --out-dir");
  }
  const files: SortPath[] = [];
  for (const input of inputs) {
    if (isStdin(input)) throw new UsageError("'-' has no name for --out-dir: sort stdin alone, with --out");
    const path = join(folder, nameOfResult(input, result));
    const other = files.find((file) => file.out === path);
    if (other) throw new UsageError(`${other.in} and ${input} would both become ${path}`);
    files.push({ in: input, out: path });
  }
  if (files.length > 1) await assertApart(files);
  await makeFolder(folder);
  return files;
}

/** Files are sorted side by side, so that none may become what another one is, by whatever name. @throws UsageError */
async function assertApart(files: readonly SortPath[]): Promise<void> {
  // Other sorts do without.
  const { Conflicts } = await import('../batch/conflicts.js');
  const conflicts = new Conflicts();
  for (const [i, { in: input, out }] of files.entries()) {
    const conflict = conflicts.add(i, { in: [input].flat().map((path) => resolve(path)), out: resolve(out) });
    if (!conflict) continue;
    const what =
      conflict.field === 'in'
        ? `the result of another file would replace ${input}`
        : `${out} is another of the files, or its result`;
    throw new UsageError(`${what}: name another folder with --out-dir`);
  }
}

/** The name of the input, with another extension where it would tell something wrong. */
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
