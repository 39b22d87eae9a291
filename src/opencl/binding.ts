import { AsyncResource } from 'node:async_hooks';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { markAsUntransferable } from 'node:worker_threads';
import { UnsupportedError } from '../util/errors.js';
import { packageFolder } from '../util/package.js';
import { otherRuntime, runtime } from '../util/runtime.js';
import { patchTransfer } from './array-buffer.js';
import { errorOf } from './errors.js';
import type { Native } from './native.js';
import { classes } from './objects.js';
import { isMusl, platformName, prebuilds, prebuiltAddon } from './prebuilt.js';
import { rejectInsteadOfThrow } from './promises.js';

let addon: Native | undefined;

/** Where the addon may be, best first: built here, then the one that the package brings for this Node. */
function* candidates(): Generator<string> {
  const chosen = process.env.CLSORT_ADDON;
  if (chosen) return yield resolve(chosen);
  const root = packageFolder();
  yield join(root, 'build', 'Release', 'clsort.node');
  yield join(root, 'build', 'Debug', 'clsort.node');
  yield prebuiltAddon();
}

const HOST = "  - sort without it: device 'host'";

/** Systems that the package brings addons for. */
const prebuiltFor = (): string[] => (existsSync(prebuilds()) ? readdirSync(prebuilds()) : []);

/** Versions of Node that there are addons for, where there are any for the system. */
const PREBUILT_NODES = [20, 22, 24, 26];

/** Would another version of Node find an addon? Only where the system has some, and none for this version. */
function needsOtherNode(systems: readonly string[]): boolean {
  const [major] = process.versions.node.split('.');
  return systems.includes(platformName()) && !PREBUILT_NODES.includes(Number(major));
}

/** Node refuses all addons: under its permission model, and with --no-addons. */
const isDisabled = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_DLOPEN_DISABLED';

const WITHOUT_ADDON = "  - sort without it: device 'host'";

const PERMISSION = [
  'Possible solutions:',
  '  - start Node with --allow-addons, if it runs with --permission',
  '  - start Node without --no-addons',
  WITHOUT_ADDON,
];

/** What was to be had, and what to do where nothing of it fits. */
function advice(): string[] {
  const other = otherRuntime();
  if (other !== undefined) {
    return [
      `The addon is for Node.js, and this is ${other}.`,
      'Possible solutions:',
      '  - run the program with Node.js',
      HOST,
    ];
  }
  const named = process.env.CLSORT_ADDON;
  const musl = isMusl();
  const systems = prebuiltFor();
  return [
    named
      ? `CLSORT_ADDON names the only file that is tried: ${named}`
      : `Prebuilt for: ${systems.length > 0 ? systems.join(', ') : 'nothing'}.`,
    ...(musl
      ? [
          'This Node is linked to musl, as on Alpine. The prebuilt addons are for glibc; musl is not supported.',
        ]
      : []),
    'Possible solutions:',
    ...(named ? ['  - name another file in CLSORT_ADDON, or unset it'] : []),
    ...(musl ? ['  - use a Node for glibc: Debian, Ubuntu, Fedora; images of Node without -alpine'] : []),
    ...(needsOtherNode(systems)
      ? [`  - use a version of Node with a prebuilt addon: ${PREBUILT_NODES.join(', ')}`]
      : []),
    `  - build it here${musl ? ', untested' : ''}: npx node-gyp rebuild, in ${named ? 'the folder of clsort' : packageFolder()}`,
    `    (needs a C++ compiler, Python 3 and the OpenCL headers; ${musl ? 'Alpine: apk add' : 'Debian, Ubuntu: apt install'} g++ make python3 opencl-headers)`,
    WITHOUT_ADDON,
  ];
}

function explain(failures: readonly string[], disabled: boolean): string {
  return [
    `clsort's native addon for ${runtime()} on ${platformName()} could not be loaded.`,
    ...(failures.length > 0
      ? failures
      : ['  None of these files is there:', ...[...candidates()].map((file) => `    ${file}`)]),
    ...(disabled ? PERMISSION : advice()),
  ].join('\n');
}

/** What `require` does with an addon; bundlers rewrite or remove calls of `require`. */
function open(file: string): Native {
  const module = { exports: {} };
  process.dlopen(module, file);
  return module.exports as Native;
}

function load(): Native {
  const failures: string[] = [];
  let disabled = false;
  for (const file of candidates()) {
    if (!existsSync(file)) continue;
    try {
      return connect(open(file));
    } catch (error) {
      disabled ||= isDisabled(error);
      failures.push(`  ${file}: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  throw new UnsupportedError(explain(failures, disabled), { details: { failures } });
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

type Callback = (...args: unknown[]) => unknown;

/** Has a callback run in the asynchronous context in which it was handed over. */
function bindCallback(callback: Callback): Callback {
  // An AsyncResource leaves its domain before an error of the callback is reported.
  const { domain } = process as { domain?: { bind(callback: Callback): Callback } | null };
  return AsyncResource.bind(domain ? domain.bind(callback) : callback, 'OPENCL');
}

const doNothing = (): void => undefined;

/** `releaseAsync` returns no promise. */
const returnsPromise = (name: string): boolean => name.endsWith('Async') && name !== 'releaseAsync';

/** Gives the addon what it cannot do itself, its handles our classes, and its promises all of its errors. */
function connect(loaded: Native): Native {
  patchTransfer();
  loaded.initialize(errorOf, protect, bindCallback, doNothing);
  for (const name of (Object.keys(loaded) as (keyof Native)[]).filter(returnsPromise)) {
    loaded[name] = rejectInsteadOfThrow(loaded[name]);
  }
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
