// The pages that people write: their files, and the blocks of code on them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const docs = join(root, 'docs');

/** Folders of docs/ that have no written pages of the site. */
const OTHERS = /^(?:node_modules|site|reference|api|contributing|\.vitepress)(?:\/|$)/;

/** Written pages by their paths below docs/. */
export const writtenPages = () =>
  readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !OTHERS.test(path))
    .sort();

/**
 * The blocks of code of a page, in order. Comments of the source say what is special:
 *
 *     <!-- not run: REASON -->      before a block: it is shown only
 *     <!-- run by FILE -->          anywhere: a test of the repository runs the blocks of the page
 *
 * A block whose language has a name behind it, as `js [server.mjs]`, is written to that file and not run by itself.
 *
 * @returns `language`, `name`, `code`, `line`, and `reason` where it is not run
 */
export function blocksOf(text) {
  const found = text.matchAll(
    /(?:<!-- not run: (?<reason>[^\n]*) -->\n+)?^(?<indent> *)```(?<info>[^\n]*)\n(?<code>[\s\S]*?)^ *```$/gm,
  );
  return [...found].map(({ index, groups }) => {
    const line = text.slice(0, index).split('\n').length;
    const [, language, name] = /^(\S*)(?: \[(.+)\])?/.exec(groups.info);
    const code = groups.code.replaceAll(new RegExp(`^${groups.indent}`, 'gm'), '');
    return { language, name, code, line, reason: groups.reason };
  });
}

/** The test that runs a page's blocks, where one says so. */
export const runBy = (text) => /<!-- run by (\S+) -->/.exec(text)?.[1];

export const readPage = (page) => readFileSync(join(docs, page), 'utf8');
