/** The kernels' text beside what they did. */
import { packageText } from '../util/package.js';

/** One kernel, or one macro that kernels are made of. */
export interface SourceText {
  readonly file: string;
  /** Number of the first line in its file, from 1 on. */
  readonly first: number;
  readonly lines: readonly string[];
}

/** Lines of a kernel that a step is about. */
export interface SourceMark {
  readonly file: string;
  readonly name: string;
  /** Lines that have one of these in them are marked; the whole kernel is meant where there are none. */
  readonly containing?: readonly string[];
  /** Numbers of those lines in the file. */
  readonly marks?: readonly number[];
}

const isHead = (line: string, name: string): boolean =>
  !/^\s*(\/?\*|#error)/.test(line) &&
  (new RegExp(`^(#define |\\w+_KERNEL\\(|LADDER\\()?${name}[,()]`).test(line) ||
    new RegExp(`^(__kernel|GROUP_KERNEL|INLINE|void)\\b.*\\b${name}\\(`).test(line));

/** @throws Error where a view names a kernel that its file does not have */
export function sourceText(file: string, name: string): SourceText {
  const all = packageText('cl', file).split('\n');
  const head = all.findIndex((line) => isHead(line, name));
  if (head < 0) throw new Error(`${file} has no kernel ${name}`);
  const isMacro = all[head]?.startsWith('#define') ?? false;
  let last = head;
  while (last < all.length - 1 && (isMacro ? all[last]?.endsWith('\\') : all[last] !== '}')) last++;
  let first = head;
  if (all[first - 1]?.startsWith('__kernel')) first--;
  // The comment that says what it does, and macros between.
  let above = first - 1;
  while (all[above] === '' || all[above]?.startsWith('#define')) above--;
  if (all[above]?.endsWith('*/')) {
    while (above > 0 && !all[above]?.startsWith('/*')) above--;
    first = above;
  }
  return { file, first: first + 1, lines: all.slice(first, last + 1) };
}

/** The texts of all marks, and the marks with the numbers of their lines. */
export function withSources<S extends { readonly source: SourceMark }>(
  steps: readonly S[],
): { steps: S[]; sources: Record<string, SourceText> } {
  const sources: Record<string, SourceText> = {};
  const marked = steps.map((step) => {
    const { file, name, containing: having } = step.source;
    sources[name] ??= sourceText(file, name);
    const { first, lines } = sources[name];
    const marks = lines.flatMap((text, i) =>
      having === undefined || (!/^\s*(\/?\*)/.test(text) && having.some((part) => text.includes(part)))
        ? [first + i]
        : [],
    );
    return { ...step, source: { file, name, marks } };
  });
  return { steps: marked, sources };
}
