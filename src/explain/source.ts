/** Source text of the kernels, shown next to their effect. */
import { packageText } from '../util/package.js';

/** Source text of one kernel, or of a macro that kernels consist of. */
export interface SourceText {
  readonly file: string;
  /** Line number of the first line in its file, starting at 1. */
  readonly first: number;
  readonly lines: readonly string[];
}

/** The lines of a kernel that a step refers to. */
export interface SourceMark {
  readonly file: string;
  readonly name: string;
  /** Lines that contain one of these strings are marked; all lines when it is absent. */
  readonly containing?: readonly string[];
  /** Line numbers of the marked lines in the file. */
  readonly marks?: readonly number[];
}

const isHead = (line: string, name: string): boolean =>
  !/^\s*(\/?\*|#error)/.test(line) &&
  (new RegExp(`^(#define |\\w+_KERNEL\\(|LADDER\\()?${name}[,()]`).test(line) ||
    new RegExp(`^(__kernel|GROUP_KERNEL|INLINE|void)\\b.*\\b${name}\\(`).test(line));

/**
 * Returns the source text of a kernel or macro, with its comment.
 *
 * @throws Error when the file has no kernel of that name
 */
export function sourceText(file: string, name: string): SourceText {
  const all = packageText('cl', file).split('\n');
  const head = all.findIndex((line) => isHead(line, name));
  if (head < 0) throw new Error(`cannot show kernel ${name}: ${file} does not define it`);
  const isMacro = all[head]?.startsWith('#define') ?? false;
  let last = head;
  while (last < all.length - 1 && (isMacro ? all[last]?.endsWith('\\') : all[last] !== '}')) last++;
  let first = head;
  if (all[first - 1]?.startsWith('__kernel')) first--;
  // Include the comment above the kernel, across macros between the two.
  let above = first - 1;
  while (all[above] === '' || all[above]?.startsWith('#define')) above--;
  if (all[above]?.endsWith('*/')) {
    while (above > 0 && !all[above]?.startsWith('/*')) above--;
    first = above;
  }
  return { file, first: first + 1, lines: all.slice(first, last + 1) };
}

/** Loads the source texts of all marks, and resolves the marks to line numbers. */
export function withSources<S extends { readonly source: SourceMark }>(
  steps: readonly S[],
): { steps: S[]; sources: Record<string, SourceText> } {
  const sources: Record<string, SourceText> = {};
  const marked = steps.map((step) => {
    const { file, name, containing } = step.source;
    sources[name] ??= sourceText(file, name);
    const { first, lines } = sources[name];
    const marks = lines.flatMap((text, i) =>
      containing === undefined ||
      (!/^\s*(\/?\*)/.test(text) && containing.some((part) => text.includes(part)))
        ? [first + i]
        : [],
    );
    return { ...step, source: { file, name, marks } };
  });
  return { steps: marked, sources };
}
