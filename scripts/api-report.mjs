#!/usr/bin/env node
// Writes docs/api: the public types of `clsort` and `clsort/opencl` without comments, taken from the compiled
// declarations. A change of the public API shows as a diff of these files.
//
//   node scripts/api-report.mjs [--check]        (after `npm run build`)
//
// With --check nothing is written; the exit code is 1 when a report is out of date.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'dist/src');
const REPORTS = { clsort: 'index.d.ts', opencl: 'opencl/index.d.ts' };

/**
 * Splits a declaration file of tsc into statements. Each begins in column 0 and ends with a closing brace there, or on
 * its own line.
 */
export function statementsOf(text) {
  const lines = text
    .replaceAll(/^ +\/\*\*(?:(?!\*\/)[\s\S])*@internal[\s\S]*?\*\/\s*(?:[^;{]|\{[^}]*\})*;$/gm, '')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s*\/\//.test(line) && !/^\s*#private;$/.test(line));
  const statements = [];
  let open = [];
  for (const line of lines) {
    open.push(line);
    const ends = open.length === 1 ? /[;}]$/.test(line) : /^[}\])]/.test(line);
    if (!ends) continue;
    statements.push(open.join('\n'));
    open = [];
  }
  if (open.length > 0) throw new Error(`a declaration does not end: ${open[0]}`);
  return statements;
}

const NAME = /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const|let|enum) (\w+)/;

/** Parses a declaration file into its declarations and its imports. */
function readModule(file) {
  const own = new Map();
  const imports = new Map();
  const exports = new Map();
  const stars = [];
  for (const statement of statementsOf(readFileSync(file, 'utf8'))) {
    const flat = statement.replaceAll(/\s+/g, ' ');
    const path = / from '(\.[^']+)\.js';$/.exec(flat)?.[1];
    const target = path && resolve(dirname(file), `${path}.d.ts`);
    const names = /^(?:import|export)(?: type)? \{(.*)\}/.exec(flat)?.[1];
    if (/^export (?:type )?\* from/.test(flat)) stars.push(target);
    else if (
      names !== undefined &&
      /^(?:import|export)/.test(flat) &&
      (target || flat.startsWith('export {'))
    ) {
      for (const one of names.split(',').filter((name) => name.trim() !== '')) {
        const [name, as = name] = one.replace('type ', '').trim().split(' as ');
        (flat.startsWith('import') ? imports : exports).set(as, { name, file: target ?? file });
      }
    } else if (!flat.startsWith('import')) {
      const name = NAME.exec(flat)?.[1];
      if (name) own.set(name, [...(own.get(name) ?? []), statement]);
    }
  }
  return { own, imports, exports, stars };
}

/** Builds the report of an entry point: its exports, and the internal types that they refer to. */
function reportOf(entry) {
  const modules = new Map();
  const moduleOf = (file) => {
    if (!modules.has(file)) modules.set(file, readModule(file));
    return modules.get(file);
  };
  const taken = new Map();
  const take = (file, name, isPublic) => {
    const { own, imports, exports } = moduleOf(file);
    const from = own.has(name) ? undefined : (imports.get(name) ?? exports.get(name));
    if (from)
      return from.file === file && from.name === name ? undefined : take(from.file, from.name, isPublic);
    const statements = own.get(name);
    if (!statements) return undefined;
    const key = `${file}|${name}`;
    const known = taken.get(key);
    if (known) {
      known.isPublic ||= isPublic;
      return undefined;
    }
    taken.set(key, { file, name, text: statements.join('\n'), isPublic });
    for (const word of new Set(statements.join('\n').match(/\b[A-Za-z]\w*\b/g))) {
      if (word !== name && (own.has(word) || imports.has(word))) take(file, word, false);
    }
    return undefined;
  };
  const exported = (file) => {
    const { own, exports, stars } = moduleOf(file);
    for (const [name, statements] of own)
      if (statements.some((one) => one.startsWith('export'))) take(file, name, true);
    for (const [as, { name, file: from }] of exports) {
      take(from, name, true);
      if (as !== name)
        taken.set(`${file}|${as}`, { file, name: as, text: `export { ${name} as ${as} };`, isPublic: true });
    }
    for (const star of stars) exported(star);
  };
  exported(entry);
  return [...taken.values()].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : a.file < b.file ? -1 : 1,
  );
}

function textOf(name, declarations) {
  const part = (isPublic) =>
    declarations
      .filter((one) => one.isPublic === isPublic)
      .map(({ text }) => text.replaceAll(/^export (?:declare )?(?!\{)|^declare /gm, ''))
      .join('\n\n');
  return `# Public types of ${name === 'clsort' ? 'clsort' : 'clsort/opencl'}

Written by \`node scripts/api-report.mjs\`. A change here is a change for users: it wants a line in CHANGELOG.md.

\`\`\`ts
${part(true)}
\`\`\`

## What these are made of

Not exported by name, but seen through what is.

\`\`\`ts
${part(false)}
\`\`\`
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  for (const [name, entry] of Object.entries(REPORTS)) {
    const file = join(root, 'docs/api', `${name}.md`);
    const text = textOf(name, reportOf(join(compiled, entry)));
    if (!values.check) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
      process.stderr.write(
        `${relative(root, file)} is not what the types are: run node scripts/api-report.mjs, and look at the change\n`,
      );
      process.exitCode = 1;
    }
  }
}
