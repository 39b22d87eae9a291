import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { markAsUntransferable } from 'node:worker_threads';
import { UnsupportedError } from '../util/errors.js';
import { packageRoot } from '../util/paths.js';
import { errorOf } from './errors.js';
import type { Native } from './native.js';
import { classes } from './objects.js';
import { platformName, prebuilds, prebuiltAddon } from './prebuilt.js';

let addon: Native | undefined;

/** Where the addon may be, best first: built here, then the one that the package brings for this Node. */
function* candidates(): Generator<string> {
  const chosen = process.env.CLSORT_ADDON;
  if (chosen) return yield chosen;
  yield join(packageRoot, 'build', 'Release', 'clsort.node');
  yield join(packageRoot, 'build', 'Debug', 'clsort.node');
  yield prebuiltAddon();
}

function explain(failures: readonly string[]): string {
  const brought = existsSync(prebuilds) ? readdirSync(prebuilds) : [];
  return [
    `clsort's native addon for Node ${process.versions.node} on ${platformName()} could not be loaded.`,
    ...(failures.length > 0 ? failures : ['  No such file was found.']),
    `Prebuilt for: ${brought.length > 0 ? brought.join(', ') : 'nothing'}.`,
    'Possible solutions:',
    `  - build it here: npx node-gyp rebuild, in ${packageRoot}`,
    '    (needs a C++ compiler, Python 3 and the OpenCL headers; Debian, Ubuntu: apt install g++ make python3 opencl-headers)',
    '  - use a version of Node that there is a prebuilt one for: 20, 22, 24 or 26',
    "  - sort without it: device 'host'",
  ].join('\n');
}

function load(): Native {
  const require = createRequire(import.meta.url);
  const failures: string[] = [];
  for (const file of candidates()) {
    if (!existsSync(file)) continue;
    try {
      return connect(require(file));
    } catch (error) {
      failures.push(`  ${file}: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  throw new UnsupportedError(explain(failures), { details: { failures } });
}

function refuseTransfer(): never {
  throw new TypeError('this ArrayBuffer is memory of an OpenCL driver: it cannot be transferred');
}

/** Keeps an ArrayBuffer over a driver's memory from being carried away from under the driver. */
function protect(buffer: ArrayBuffer): void {
  markAsUntransferable(buffer);
  for (const name of ['transfer', 'transferToFixedLength']) {
    Object.defineProperty(buffer, name, { value: refuseTransfer });
  }
}

/** Gives the addon what it cannot do itself, and its handles our classes. */
function connect(loaded: Native): Native {
  loaded.initialize(errorOf, protect);
  for (const [name, ours] of Object.entries(classes)) {
    const theirs = loaded[name as keyof Native] as unknown as { prototype: object };
    Object.setPrototypeOf(theirs.prototype, ours.prototype);
  }
  return loaded;
}

/**
 * The addon, loaded when it is first needed: importing the package never fails for want of it.
 *
 * @throws UnsupportedError when there is none for this Node and system
 */
export function native(): Native {
  addon ??= load();
  return addon;
}
