// The written pages: their files, and their code blocks.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const docs = join(root, 'docs');

/** Folders of docs/ without written pages of the site. */
const OTHERS = /^(?:node_modules|site|reference|api|contributing|\.vitepress)(?:\/|$)/;

/** Returns the written pages, as paths below docs/. */
export const writtenPages = () =>
  readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !OTHERS.test(path))
    .sort();

/**
 * Returns the code blocks of a page, in order. Comments in the source mark special cases:
 *
 *     <!-- not run: REASON -->      before a block: it is only shown
 *     <!-- run by FILE -->          anywhere: a test of the repository runs the blocks of the page
 *
 * A block with a name after its language, such as `js [server.mjs]`, is written to that file and not run separately.
 *
 * @returns `language`, `name`, `code`, `line`, and `reason` when it is not run
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

/** Returns the test that runs the blocks of a page, if the page names one. */
export const runBy = (text) => /<!-- run by (\S+) -->/.exec(text)?.[1];

export const readPage = (page) => readFileSync(join(docs, page), 'utf8');
