// Checks the English of pages, docstrings and help texts with textlint. Rules and exceptions are data:
// scripts/prose/english.mjs. Constructions that this project bans are checked by scripts/prose.mjs.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { tracked } from '../ci/unchanged.mjs';
import { ALLOWED, EXCEPTIONS, RULES } from '../prose/english.mjs';
import { docs, root } from './pages.mjs';

/** Pages, except generated ones, and the modules whose docstrings and help texts are checked. */
const CHECKED = /^(?:[^/]+|\.github\/.+|docs\/.+)\.md$|^src\/.+\.ts$/;
const GENERATED = /^docs\/(?:api|reference|site)\/|^docs\/matrix\/README\.md$/;
/** Modules whose strings are help texts. */
const HELP = /^src\/cli\/(?:options\/|commands\.ts)/;

/** A text with a fault, to notice when the linter finds nothing. */
const FAULTY = 'This is the the file that they utilize with Javascript.\n';

/** Returns the files whose English is checked. */
export const englishFiles = () => tracked().filter((file) => CHECKED.test(file) && !GENERATED.test(file));

/**
 * Returns the docstrings and help texts of a module as Markdown, each line at its place in the module. Two spaces
 * separate a help text from that of the next line.
 */
export function markdownOf(file, text) {
  if (file.endsWith('.md')) return text;
  const lines = text.split('\n').map(() => '');
  const strings = HELP.test(file) ? "|'(?:\\\\.|[^'\\\\\\n])* (?:\\\\.|[^'\\\\\\n])*'" : '';
  for (const { 0: part, index } of text.matchAll(new RegExp(`/\\*\\*[\\s\\S]*?\\*/${strings}`, 'g'))) {
    const first = text.slice(0, index).split('\n').length - 1;
    const isString = part.startsWith("'");
    if (isString && part.includes('$0')) continue; // an example of a command line
    const prose = isString ? `${part.slice(1, -1)}  ` : part.replace(/^\/\*\*/, '').replace(/\s*\*\/$/, '');
    for (const [i, line] of prose.split('\n').entries()) {
      const own = line.replace(i === 0 ? /^ / : /^ *\* ?/, '').replace(/^@param (\S+)/, '`$1`:');
      lines[first + i] = `${lines[first + i]} ${own}`.slice(1);
    }
  }
  return lines.join('\n');
}

/**
 * Returns the messages of the linter that no exception covers.
 *
 * @param used exceptions that matched are added
 * @returns for each its line number and message
 */
export function problemsIn(
  file,
  text,
  messages,
  used = new Set(),
  allowed = ALLOWED,
  exceptions = EXCEPTIONS,
) {
  const lines = text.split('\n');
  return messages.filter(({ line, message }) => {
    const word = /["“]([^"”]+)["”]/.exec(message)?.[1].trim().replaceAll(/\s+/g, ' ').toLowerCase();
    const words = allowed.find((one) => one.words.includes(word));
    const exception = exceptions.find((one) => file === one.file && lines[line - 1].includes(one.text));
    if (words) used.add(words);
    if (exception) used.add(exception);
    return !words && !exception;
  });
}

/** Returns a function that lints Markdown. */
export async function createEnglishLinter() {
  const require = createRequire(join(docs, 'package.json'));
  const load = async (name) => {
    const { default: loaded } = await import(require.resolve(name));
    return loaded.default ?? loaded;
  };
  const { createLinter } = await load('textlint');
  const { TextlintKernelDescriptor } = await load('@textlint/kernel');
  const plugin = await load('@textlint/textlint-plugin-markdown');
  const rules = Object.entries(RULES).map(async ([ruleId, options]) => ({
    ruleId,
    rule: await load(`textlint-rule-${ruleId}`),
    options,
  }));
  const descriptor = new TextlintKernelDescriptor({
    plugins: [{ pluginId: 'markdown', plugin, options: true }],
    rules: await Promise.all(rules),
    filterRules: [],
  });
  const linter = createLinter({ descriptor });
  return async (text) => (await linter.lintText(text, 'text.md')).messages;
}

export async function check() {
  const lint = await createEnglishLinter();
  const found = (await lint(FAULTY)).length;
  const problems = found < 3 ? [`textlint reports ${found} of 3 faults in: ${FAULTY.trim()}`] : [];
  const files = englishFiles();
  const used = new Set();
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const messages = await lint(markdownOf(file, text));
    for (const { line, message } of problemsIn(file, text, messages, used)) {
      problems.push(`${file}:${line}: ${message}: ${text.split('\n')[line - 1].trim()}`);
    }
  }
  for (const one of [...ALLOWED, ...EXCEPTIONS].filter((one) => !used.has(one))) {
    problems.push(`scripts/prose/english.mjs: '${one.text ?? one.words}' matches nothing`);
  }
  return { summary: `English of ${files.length} files`, problems };
}
