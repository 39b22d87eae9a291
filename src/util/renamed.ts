/** Names of the public API that were replaced. Programs that use an old name get an error with the new one. */
import type { UsageError } from './errors.js';
import { invalidArgument } from './invalid-argument.js';

/** New names by old names, for each kind of name. */
const RENAMED: Readonly<
  Record<'function' | 'method' | 'option' | 'tuning', Readonly<Record<string, string>>>
> = {
  function: { close: 'closeAll' },
  method: { alloc: 'allocPinned', free: 'freePinned', allocate: 'createArray' },
  option: {
    bits: 'bitRange',
    radixBits: 'advanced.radixBits',
    scan: 'advanced.scan',
    tuning: 'advanced.tuning',
  },
  tuning: { spread: 'deviceCount' },
};

/** Returns the error for an old name; undefined for any other name. */
export function renamedError(kind: keyof typeof RENAMED, old: string): UsageError | undefined {
  const name = Object.hasOwn(RENAMED[kind], old) ? RENAMED[kind][old] : undefined;
  if (name === undefined) return undefined;
  const advice = `The ${kind} was renamed`;
  return invalidArgument(`the ${kind}`, name, { text: old }, { advice, details: { option: old, use: name } });
}

/** Defines the old methods of a class: each throws the error that names the new method. */
export function defineRenamedMethods(prototype: object): void {
  for (const old of Object.keys(RENAMED.method)) {
    Object.defineProperty(prototype, old, {
      value: () => {
        throw renamedError('method', old);
      },
    });
  }
}
