// Generates the table of all OpenCL functions: the C API by version, its coverage by clsort/opencl, and that by
// node-opencl.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADDED, camelCase, EXTENSIONS, LEFT_OUT } from '../opencl-functions.mjs';
import { cell, code, table } from './markdown.mjs';

/** Returns the functions of the C header with the OpenCL version that introduced them, in the order of the header. */
export function headerFunctions(header) {
  return [
    ...header.matchAll(/CL_API_CALL\s+(cl\w+)\s*\([^;]*?CL_API_SUFFIX__VERSION_(\d)_(\d)(_DEPRECATED)?/g),
  ].map(([, name, major, minor, deprecated]) => ({
    name,
    version: `${major}.${minor}`,
    deprecated: deprecated !== undefined,
  }));
}

/**
 * Returns the functions that clsort/opencl declares, by name, with their module and the first sentence of the
 * docstring.
 */
export function declaredFunctions(root, modules) {
  return new Map(
    modules.flatMap((module) => {
      const text = readFileSync(join(root, 'src/opencl', `${module}.ts`), 'utf8');
      const found = text.matchAll(/(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?export (?:async )?function (\w+)/g);
      return [...found].map(([, doc = '', name]) => {
        const plain = doc
          .replaceAll(/^\s*\*/gm, '')
          .replaceAll(/\s+/g, ' ')
          .trim();
        return [name, { module, says: /^.*?[.:](?= |$)/.exec(plain)?.[0] ?? plain }];
      });
    }),
  );
}

/**
 * Returns the page.
 *
 * @param nodeOpencl version and functions of node-opencl, as in scripts/docs/node-opencl.json
 */
export function functionsPage({ root, modules, nodeOpencl, headers = '/usr/include/CL' }) {
  const file = [headers, join(root, '.setup/root/usr/include/CL')]
    .map((folder) => join(folder, 'cl.h'))
    .find(existsSync);
  if (!file) throw new Error("cl.h is missing: 'npm run build' installs the OpenCL headers");
  const declared = declaredFunctions(root, modules);
  const link = (name) => {
    const one = declared.get(name);
    return one ? `[${code(name)}](./opencl/${one.module}.md#${name.toLowerCase()})` : '–';
  };
  const had = new Set(nodeOpencl.functions);
  const rows = headerFunctions(readFileSync(file, 'utf8')).map(({ name, version, deprecated }) => {
    const own = camelCase(name);
    const left = LEFT_OUT[name];
    return [
      code(name),
      `${version}${deprecated ? ', deprecated' : ''}`,
      left ? `left out: ${cell(left)}` : link(own),
      had.has(own) ? 'yes' : '–',
    ];
  });
  const beyond = (names) =>
    names.map((name) => [link(name), had.has(name) ? 'yes' : '–', cell(declared.get(name)?.says ?? '')]);
  const gone = nodeOpencl.functions.filter((name) => !declared.has(name));
  if (gone.length > 0) throw new Error(`functions of node-opencl that are missing: ${gone}`);
  return `# Functions of OpenCL

All ${rows.length} functions of the C header, of OpenCL 1.0 to 3.0, beside their names in \`clsort/opencl\`, and whether node-opencl ${nodeOpencl.version} had
them. A call that the driver's version lacks is an \`UnsupportedError\`. [Moving from node-opencl](../node-opencl.md) tells what behaves differently.

${table(['C', 'OpenCL', 'clsort/opencl', 'node-opencl'], rows)}
## Functions of extensions

Their names are those of C without \`cl\`; \`getExtensionFunctions(platform)\` tells which can be called.

${table(['clsort/opencl', 'node-opencl', ''], beyond(EXTENSIONS))}
## Beyond the header

${table(['clsort/opencl', 'node-opencl', ''], beyond(ADDED))}`;
}
