/** The modules that a command loads, as recorded by a loader hook. */
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/util/paths.js';
import { COMPILED, clsort, type Ran, type RunOptions } from './cli.js';

/** Records every loaded module. */
const HOOKS = `
import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED, url + '\\n');
  return next(url, context);
}`;

/**
 * Runs the compiled command, or that of `main`.
 *
 * @param path names a file in a folder for scratch
 * @returns the result and the modules: files of src without their extension, names of packages and of Node's modules
 */
export async function loadedBy(
  args: readonly string[],
  path: (name: string) => string,
  { env, main = COMPILED, ...options }: RunOptions = {},
): Promise<{ ran: Ran; modules: string[] }> {
  const list = path('loaded');
  writeFileSync(list, '');
  writeFileSync(path('hooks.mjs'), HOOKS);
  const register = `import { register } from 'node:module'; register('${pathToFileURL(path('hooks.mjs'))}')`;
  writeFileSync(path('register.mjs'), register);
  const NODE_OPTIONS = `--import ${pathToFileURL(path('register.mjs'))}`;
  const ran = await clsort(args, { ...options, main, env: { ...env, NODE_OPTIONS, LOADED: list } });
  const loaded = readFileSync(list, 'utf8').split('\n').filter(Boolean).map(nameOf);
  const modules = [...new Set(loaded)].filter((name) => name !== 'register');
  return { ran, modules };
}

function nameOf(url: string): string {
  if (!url.startsWith('file:')) return url;
  const file = relative(packageRoot, fileURLToPath(url)).replace(/\.m?js$/, '');
  const [, inPackage] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  if (inPackage) return inPackage;
  return file.startsWith('dist/src/') ? file.slice('dist/src/'.length) : (file.split('/').at(-1) ?? '');
}
