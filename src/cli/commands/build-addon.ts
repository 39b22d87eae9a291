import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { AbortedError, UnsupportedError } from '../../util/errors.js';
import { packageFolder } from '../../util/package.js';
import { type Console, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';

const inPath = (name: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));

/** Returns the requirements of a build that this Linux lacks. */
function missingTools(): string[] {
  if (process.platform !== 'linux') return [];
  const { CXX, CPATH, CPLUS_INCLUDE_PATH } = process.env;
  const headers = [CPATH, CPLUS_INCLUDE_PATH].flatMap((list) => list?.split(delimiter) ?? []);
  const hasHeaders = ['/usr/include', '/usr/local/include', ...headers].some((folder) =>
    existsSync(join(folder, 'CL', 'cl.h')),
  );
  return [
    ...(CXX || inPath('g++') || inPath('c++') ? [] : ['g++']),
    ...['make', 'python3'].filter((name) => !inPath(name)),
    ...(hasHeaders ? [] : ['opencl-headers']),
  ];
}

/** Returns the command that runs node-gyp: the one of npm, an installed one, or one that npx fetches. */
function nodeGyp(root: string): [command: string, ...args: string[]] {
  const { npm_config_node_gyp: ofNpm } = process.env;
  if (ofNpm && existsSync(ofNpm)) return [process.execPath, ofNpm];
  try {
    const require = createRequire(join(root, 'package.json'));
    return [process.execPath, require.resolve('node-gyp/bin/node-gyp.js')];
  } catch {
    return ['npx', '--yes', 'node-gyp@12'];
  }
}

/** Returns the option for the headers of the running Node if it includes them; node-gyp downloads them otherwise. */
function nodeHeaders(): string[] {
  const home = dirname(dirname(process.execPath));
  if (process.env.npm_config_target) return []; // another runtime, such as Electron
  return existsSync(join(home, 'include', 'node', 'node.h')) ? [`--nodedir=${home}`] : [];
}

/** Compiles the addon in a temporary folder and moves it to build/Release of the package. */
export async function run(_args: unknown, console: Console): Promise<ExitCode> {
  const root = packageFolder();
  const missing = missingTools();
  if (missing.length > 0) {
    const list = missing.join(' ');
    throw new UnsupportedError(
      `cannot build the addon: ${missing.join(', ')} missing. Debian, Ubuntu: apt install ${list}; Alpine: apk add ${list}`,
      { details: { missing } },
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'clsort-addon-'));
  try {
    // The published package has the build file under another name, because npm would build wherever it finds a binding.gyp.
    const description = [join(root, 'src', 'native', 'addon.gyp'), join(root, 'binding.gyp')].find(
      existsSync,
    );
    copyFileSync(description ?? '', join(folder, 'binding.gyp'));
    cpSync(join(root, 'src', 'native'), join(folder, 'src', 'native'), { recursive: true });
    const nan = dirname(dirname(createRequire(join(root, 'package.json')).resolve('nan/package.json')));
    const [command, ...args] = nodeGyp(root);
    const child = spawn(
      command,
      [...args, 'rebuild', '-C', folder, '--jobs=max', '--loglevel=error', ...nodeHeaders()],
      {
        cwd: folder,
        env: { ...process.env, NODE_PATH: nan },
        stdio: ['ignore', 'inherit', 'inherit'],
        signal: console.signal,
      },
    );
    const reason = await once(child, 'exit').then(
      ([status]) => (status === 0 ? undefined : `node-gyp ended with ${status}, as shown above`),
      (error: Error) => error.message,
    );
    if (console.signal.aborted) throw new AbortedError('interrupted', { cause: console.signal.reason });
    if (reason) {
      throw new UnsupportedError(`cannot build the addon: ${reason}. Sort without it: device 'host'`);
    }
    const place = join(root, 'build', 'Release', 'clsort.node');
    mkdirSync(dirname(place), { recursive: true });
    copyFileSync(join(folder, 'build', 'Release', 'clsort.node'), place);
    say(console, `clsort: built ${place}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return EXIT.ok;
}
