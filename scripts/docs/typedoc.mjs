// Runs TypeDoc, with the TypeScript of docs/, over the public entries of the library: Markdown below docs/reference,
// and the reflections as JSON.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const docs = join(root, 'docs');

/** Returns the modules of src/opencl that clsort/opencl re-exports completely, according to its index. */
export const openclModules = () =>
  [
    ...readFileSync(join(root, 'src/opencl/index.ts'), 'utf8').matchAll(
      /export (?:type )?\* from '\.\/([\w-]+)\.js'/g,
    ),
  ]
    .map(([, name]) => name)
    .concat('objects', 'errors')
    .toSorted();

/** Runs TypeDoc on entry points. */
function typedoc(entryPoints, options) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-typedoc-'));
  try {
    const file = join(folder, 'typedoc.json');
    const own = { extends: join(docs, 'typedoc.json'), entryPoints, tsconfig: join(docs, 'tsconfig.json') };
    writeFileSync(file, JSON.stringify({ ...own, ...options }));
    const { status } = spawnSync(
      process.execPath,
      [join(docs, 'node_modules/typedoc/bin/typedoc'), '--options', file],
      {
        cwd: docs,
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
    if (status !== 0) throw new Error(`TypeDoc ended with ${status}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Writes docs/reference/clsort, a page per name, and docs/reference/opencl, a page per module.
 *
 * @returns the reflections of `clsort`
 */
export function writeApiPages(reference) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-api-'));
  try {
    const json = join(folder, 'api.json');
    typedoc([join(root, 'src/index.ts')], {
      outputs: [
        {
          name: 'markdown',
          path: join(reference, 'clsort'),
          options: { outputFileStrategy: 'members', entryFileName: 'index' },
        },
        { name: 'json', path: json },
      ],
    });
    typedoc(
      openclModules().map((name) => join(root, 'src/opencl', `${name}.ts`)),
      {
        outputs: [
          {
            name: 'markdown',
            path: join(reference, 'opencl'),
            options: { outputFileStrategy: 'modules', entryFileName: 'index' },
          },
        ],
      },
    );
    return JSON.parse(readFileSync(json, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Converts the indented examples of docstrings to fenced blocks of TypeScript. */
export function fenceExamples(folder) {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  )) {
    const file = join(folder, path);
    const text = readFileSync(file, 'utf8');
    const fenced = text.replaceAll(/(?<=\n\n)((?: {4}.*\n)(?:(?: {4}.*)?\n)*?)(?=\n*\S)/g, (_, code) => {
      const plain = code.replaceAll(/^ {4}/gm, '').trimEnd();
      return `\`\`\`ts\n${plain}\n\`\`\`\n\n`;
    });
    if (fenced !== text) writeFileSync(file, fenced);
  }
}

/** Titles each page of a module of clsort/opencl with the name of the binding. */
export function nameModules(folder) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.md'))) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replace(/^# .*$/m, (title) => title.replace(/^# (?:Module: )?/, '# clsort/opencl: ')),
    );
  }
}
