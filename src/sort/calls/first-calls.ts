/** First calls of operations under `auto`: the host engine runs them while the device compiles the programs. */
import { AsyncResource } from 'node:async_hooks';
import { oncePer } from '../../util/memo.js';
import type { Backend, Session } from '../backend/backend.js';
import type { Calls } from './calls.js';
import { MAX_BYTES_WHILE_COMPILING } from './policy.js';

type Arguments = readonly unknown[];

/** Options that select no program; the functions among them are not called for a call in the background. */
const UNRELATED: ReadonlySet<string> = new Set(['onWarning', 'onReport', 'onProgress', 'signal', 'timeout']);

/**
 * Lets the host engine run calls of a kind until the device has made one. A kind is an operation with dtypes and
 * options. The device makes its first call in the background, with a copy of the arguments: so it compiles and tests
 * exactly the programs that later calls need, whatever the operation.
 */
export class FirstCalls {
  readonly #session: Session;
  readonly #calls: Calls;
  /** Kinds by backend: whether the device is making the first call of the kind. */
  readonly #kindsOf = oncePer((_backend: Backend) => new Map<string, boolean>());
  /** Keeps messages of the call that comes first from the call in the background. */
  readonly #outside = new AsyncResource('clsort.FirstCalls');

  constructor(session: Session, calls: Calls) {
    this.#session = session;
    this.#calls = calls;
  }

  /** Makes a call of an operation. @param call makes it with these or other arguments */
  run(operation: string, args: Arguments, call: (args: Arguments) => unknown): unknown {
    return this.#calls.runFirst(
      () => this.#isForHost(operation, args, call),
      () => call(args),
    );
  }

  /** Whether the host engine runs a call that the device would run, which has the device make it in the background. */
  #isForHost(operation: string, args: Arguments, call: (args: Arguments) => unknown): boolean {
    const { backend } = this.#session;
    if (backend.lost || !backend.overlaps || bytesOf(args) > MAX_BYTES_WHILE_COMPILING) return false;
    const kind = kindOf(operation, args);
    if (kind === undefined) return false;
    const kinds = this.#kindsOf(backend);
    const isCompiling = kinds.get(kind);
    if (isCompiling !== undefined) return isCompiling;
    if (backend.hasMade(kind)) {
      kinds.set(kind, false);
      return false;
    }
    kinds.set(kind, true);
    const copies = args.map(copyOf);
    const made = this.#outside.runInAsyncScope(() => this.#calls.runInBackground(() => call(copies)));
    made
      .then(() => backend.recordMade(kind))
      .catch(() => undefined) // the next call reports the error
      .finally(() => kinds.set(kind, false));
    return true;
  }
}

/** Returns the bytes of all arrays, also of those in lists. */
const bytesOf = (args: Arguments): number =>
  args.flat().reduce((sum: number, one) => sum + (ArrayBuffer.isView(one) ? one.byteLength : 0), 0);

const isOptions = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/**
 * Returns a name for the programs that a call needs: numbers count by their type only, since they are sizes and ranks.
 *
 * @returns undefined for promises, device arrays, and arrays that a call overwrites
 */
function kindOf(operation: string, args: Arguments): string | undefined {
  const words: string[] = [operation];
  for (const value of args) {
    const word = isOptions(value) ? optionsWord(value) : wordOf(value);
    if (word === undefined) return undefined;
    words.push(word);
  }
  return words.join(' ');
}

function wordOf(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null) {
    if (ArrayBuffer.isView(value)) return value.constructor.name;
    const words = Array.isArray(value) ? value.map(wordOf) : [undefined];
    return words.includes(undefined) ? undefined : words.join();
  }
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : typeof value;
}

function optionsWord(options: Readonly<Record<string, unknown>>): string | undefined {
  const words: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (UNRELATED.has(name) || value === undefined) continue;
    const word = name === 'into' ? undefined : wordOf(value);
    if (word === undefined) return undefined;
    words.push(`${name}=${word}`);
  }
  return words.join();
}

/** Copies elements, also those of a Node buffer, whose own `slice` returns a view. */
const { slice } = Object.getPrototypeOf(Uint8Array.prototype) as { slice(this: unknown): unknown };

/** Returns an argument that the caller cannot change. */
function copyOf(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return slice.call(value);
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isOptions(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (UNRELATED.has(name) ? [] : [[name, copyOf(one)]])),
  );
}
