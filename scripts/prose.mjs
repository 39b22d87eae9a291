#!/usr/bin/env node
// Checks the prose of this project for constructions that readers stumbled over:
//
//   node scripts/prose.mjs [--summary] [FILE …]
//
//   --summary   prints the number of findings per construction and folder, without the lines
//
// Reads pages, comments, docstrings and texts of the command; code in pages and in backquotes is left out. The
// constructions and the exceptions are data: scripts/prose/banned.mjs. An exception that matches no line is an error.
// docs/ has a linter for English beside this: `node scripts/docs.mjs --check prose`.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { root } from './ci/stage.mjs';
import { tracked } from './ci/unchanged.mjs';
import { BANNED, EXCEPTIONS } from './prose/banned.mjs';

/** Generated files, data and texts of others. */
const LEFT_OUT = /^(?:docs\/(?:reference|api|site)\/|scripts\/(?:results|mutations|prose)\/)/;
/** Files whose strings are texts for users. */
const TEXTS = /^src\/cli\/(?:options\/|commands\.ts)/;

/** Replaces code by as many spaces, so that lines and columns stay. */
const blank = (text) => text.replaceAll(/[^\n]/g, ' ');

/** The prose of a page: all but code blocks, code spans, links' targets and HTML comments. */
function proseOfPage(text) {
  return text
    .replaceAll(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2[^\n]*$/gm, blank)
    .replaceAll(/`[^`\n]*`/g, blank)
    .replaceAll(/\]\([^)\n]*\)/g, blank)
    .replaceAll(/<!--[\s\S]*?-->/g, blank);
}

const CODE =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|[^/'"`]+|[/'"`]/g;

/** The prose of source code: its comments, and its strings of several words if these are texts for users. */
function proseOfCode(text, hasTexts) {
  return text.replaceAll(CODE, (token) => {
    const isComment = token.startsWith('/*') || token.startsWith('//');
    const isText = hasTexts && /^['"`].* /s.test(token);
    return isComment || isText ? (isComment ? token.replaceAll(/`[^`\n]*`/g, blank) : token) : blank(token);
  });
}

/** The prose of a file, with the lines of the file. */
export function proseOf(file, text) {
  if (file.endsWith('.md')) return proseOfPage(text);
  return /\.(?:ts|mjs|cc|h|cl|clh)$/.test(file) ? proseOfCode(text, TEXTS.test(file)) : '';
}

/**
 * Banned constructions in a file.
 *
 * @param used exceptions that matched are added
 * @returns for each finding its line number, the words, the line and what to write instead
 */
export function findingsIn(file, text, used = new Set(), banned = BANNED, exceptions = EXCEPTIONS) {
  const lines = text.split('\n');
  const prose = proseOf(file, text).split('\n');
  const own = exceptions.filter((one) =>
    one.file.endsWith('/') ? file.startsWith(one.file) : file === one.file,
  );
  return prose.flatMap((line, i) =>
    banned.flatMap(({ pattern, instead }) => {
      const found = new RegExp(`(?<![\\w-])(?:${pattern})(?![\\w-])`, 'i').exec(line);
      if (!found) return [];
      const exception = own.find((one) => lines[i].includes(one.text));
      if (exception) used.add(exception);
      return exception ? [] : [{ line: i + 1, words: found[0], text: lines[i].trim(), instead, pattern }];
    }),
  );
}

/** Files whose prose is checked, of those that git has. */
export function proseFiles() {
  return tracked()
    .filter((file) => /^(?:src|cl|docs|scripts)\/|^[^/]+\.md$/.test(file))
    .filter((file) => /\.(?:md|ts|mjs|cc|h|cl|clh)$/.test(file) && !LEFT_OUT.test(file))
    .filter((file) => existsSync(join(root, file)));
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { summary: { type: 'boolean', default: false } },
  });
  const files = positionals.length > 0 ? positionals : proseFiles();
  const used = new Set();
  const findings = files.flatMap((file) =>
    findingsIn(file, readFileSync(join(root, file), 'utf8'), used).map((one) => ({ file, ...one })),
  );
  const unused = positionals.length > 0 ? [] : EXCEPTIONS.filter((one) => !used.has(one));
  if (values.summary) {
    const counts = new Map();
    for (const { file, pattern } of findings) {
      const key = `${file
        .split('/')
        .slice(0, 3)
        .join('/')
        .replace(/\/[^/]*\.\w+$/, '')}: ${pattern}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const [key, count] of [...counts].sort((a, b) => b[1] - a[1])) console.log(`${count}  ${key}`);
  } else {
    for (const { file, line, words, text, instead } of findings)
      console.log(`${file}:${line}: '${words}' (write: ${instead}): ${text}`);
  }
  for (const { file, text } of unused)
    console.log(`scripts/prose/banned.mjs: the exception '${text}' matches no line of ${file}`);
  console.log(`prose: ${files.length} files, ${findings.length} findings`);
  process.exitCode = findings.length + unused.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
