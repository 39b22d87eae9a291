import { AsyncResource } from 'node:async_hooks';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { markAsUntransferable } from 'node:worker_threads';
import { addonLoaded, type ProcessFunctions } from '../util/addon-load.js';
import { UnsupportedError } from '../util/errors.js';
import { packageFolder, VERSION } from '../util/package.js';
import { otherRuntime, runtime } from '../util/runtime.js';
import { patchTransfer } from './array-buffer.js';
import { errorOf } from './errors.js';
import type { Native } from './native.js';
import { connectHandles } from './objects.js';
import {
  addonPackage,
  isMusl,
  PREBUILT_NODES,
  PREBUILT_PLATFORMS,
  packagedAddon,
  platformName,
} from './prebuilt.js';
import { rejectInsteadOfThrow } from './promises.js';

let addon: Native | undefined;

/** Paths of the addon in order of preference: a local build, then the package with the prebuilt addon. */
function* candidates(): Generator<string> {
  const chosen = process.env.CLSORT_ADDON;
  if (chosen) return yield resolve(chosen);
  const root = packageFolder();
  yield join(root, 'build', 'Release', 'clsort.node');
  yield join(root, 'build', 'Debug', 'clsort.node');
  const packaged = packagedAddon();
  if (packaged !== undefined) yield packaged;
}

/** Node loads no addons under its permission model and with --no-addons. */
const isDisabled = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_DLOPEN_DISABLED';

const WITHOUT_ADDON = "  - sort without it: device 'host'";

/** Returns the lines of the error message that list the prebuilt addons and the possible solutions. */
function advice(): string[] {
  const other = otherRuntime();
  if (other !== undefined) {
    return [
      `The addon is for Node.js, and this is ${other}.`,
      'Possible solutions:',
      '  - run the program with Node.js',
      WITHOUT_ADDON,
    ];
  }
  const named = process.env.CLSORT_ADDON;
  const prebuilt = addonPackage();
  const tools = isMusl() ? 'Alpine: apk add' : 'Debian, Ubuntu: apt install';
  return [
    named
      ? `Only the file that CLSORT_ADDON names is tried: ${named}`
      : `Prebuilt for Node ${PREBUILT_NODES.join(', ')} on ${PREBUILT_PLATFORMS.join(', ')}.`,
    'Possible solutions:',
    ...(named ? ['  - name another file in CLSORT_ADDON, or unset it'] : []),
    ...(prebuilt
      ? [`  - install the prebuilt addon: npm install ${prebuilt}@${VERSION}`]
      : PREBUILT_PLATFORMS.includes(platformName())
        ? [`  - use a version of Node with a prebuilt addon: ${PREBUILT_NODES.join(', ')}`]
        : []),
    '  - build it here: npx clsort build-addon',
    `    (needs a C++ compiler, make, Python 3 and the OpenCL headers; ${tools} g++ make python3 opencl-headers)`,
    WITHOUT_ADDON,
  ];
}

function explain(failures: readonly string[], disabled: boolean): string {
  if (disabled) {
    return (
      "cannot load clsort's native addon: Node runs with --permission or --no-addons. Start it with --allow-addons, " +
      "without --no-addons, or sort with device 'host'"
    );
  }
  return [
    `cannot load clsort's native addon for ${runtime()} on ${platformName()}:`,
    ...(failures.length > 0
      ? failures
      : ['  None of these files exists:', ...[...candidates()].map((file) => `    ${file}`)]),
    ...advice(),
  ].join('\n');
}

/** Loads an addon as `require` does; bundlers rewrite or remove calls of `require`. */
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
  throw new TypeError('cannot transfer this ArrayBuffer: it is memory of an OpenCL driver');
}

/** Prevents the transfer of an ArrayBuffer over driver memory: the driver would still use that memory. */
function protect(buffer: ArrayBuffer): void {
  markAsUntransferable(buffer);
  for (const name of ['transfer', 'transferToFixedLength']) {
    Object.defineProperty(buffer, name, { value: refuseTransfer });
  }
}

type Callback = (...args: unknown[]) => unknown;

/** Binds a callback to the asynchronous context in which it was passed. */
function bindCallback(callback: Callback): Callback {
  // An AsyncResource leaves its domain before an error of the callback is reported.
  const { domain } = process as { domain?: { bind(callback: Callback): Callback } | null };
  return AsyncResource.bind(domain ? domain.bind(callback) : callback, 'OPENCL');
}

const doNothing = (): void => undefined;

/** `releaseAsync` is the only Async function that returns no promise. */
const returnsPromise = (name: string): boolean => name.endsWith('Async') && name !== 'releaseAsync';

/**
 * Passes JavaScript helpers to the addon, makes its handles instances of our classes, and turns the errors that its
 * promise-returning functions throw into rejections.
 */
function connect(loaded: Native): Native {
  patchTransfer();
  loaded.initialize(errorOf, protect, bindCallback, doNothing);
  for (const name of Object.keys(loaded).filter(returnsPromise)) {
    loaded[name] = rejectInsteadOfThrow(loaded[name]);
  }
  connectHandles(loaded);
  addonLoaded(loaded as unknown as ProcessFunctions);
  return loaded;
}

/**
 * Returns the addon and loads it on the first call, so that importing the package never fails.
 *
 * @throws UnsupportedError when no addon loads for this version of Node and platform
 */
export function native(): Native {
  addon ??= load();
  return addon;
}
