import { packageText } from '../../util/package.js';
import type { Quirks } from '../platform/quirks.js';

const INCLUDE = /^[ \t]*#[ \t]*include[ \t]+"([^"]+)"/;

/**
 * Returns the text of `cl/<file>` with each include inserted once. `#line` directives make a compiler's messages
 * refer to the original file and line.
 *
 * Includes are resolved here because not every driver accepts `-I`, and none finds a path on another machine's disk.
 *
 * @param file file name below `cl/`
 * @param seen files that are included already
 * @throws UnsupportedError when the package's kernels are missing
 */
export function programSource(file: string, seen = new Set<string>()): string {
  seen.add(file);
  const lines = packageText('cl', file).split('\n');
  const out = [`#line 1 "${file}"`];
  lines.forEach((line, i) => {
    const included = INCLUDE.exec(line)?.[1];
    if (included === undefined) out.push(line);
    else if (!seen.has(included)) out.push(programSource(included, seen), `#line ${i + 2} "${file}"`);
    else out.push('');
  });
  return out.join('\n');
}

/** Returns the `-D` options of a program, sorted so that equal defines give equal options. */
export function defineOptions(defines: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(defines)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `-D${name}=${value}`);
}

/** Returns the macro that enables the vendor's instructions for votes, exchanges, and acquire and release. */
export const ballotDefine = (hasBallot: boolean) => ({ INLINE_PTX: hasBallot ? 1 : 0 });

/**
 * Returns all options of a program.
 *
 * @param defines values of macros
 * @param options further compiler options; `-cl-std=CL1.2` is added if the driver accepts it and they contain none
 */
export function programOptions(
  { acceptsClStd }: Pick<Quirks, 'acceptsClStd'>,
  defines: Readonly<Record<string, string | number>>,
  options: readonly string[] = [],
): string {
  const hasStandard = options.some((option) => option.startsWith('-cl-std'));
  const standard = acceptsClStd && !hasStandard ? ['-cl-std=CL1.2'] : [];
  return [...standard, ...options, ...defineOptions(defines)].join(' ');
}
