import type { MaybePromise } from './maybe-promise.js';

/** Maximum cached names per owner, which limits memory. One more clears all of them. */
const MAX_NAMES = 256;

/** Returns a function that computes a value once for each object, and keeps it for as long as the object lives. */
export function oncePer<O extends object, T>(compute: (owner: O) => T): (owner: O) => T {
  const known = new WeakMap<O, T>();
  return (owner) => {
    const value = known.get(owner);
    if (value !== undefined || known.has(owner)) return value as T;
    const computed = compute(owner);
    known.set(owner, computed);
    return computed;
  };
}

/** Caches one value per owner and name, for as long as the owner lives. Failures are not cached. */
export class Memo<T> {
  readonly #entries = new WeakMap<object, Map<string, MaybePromise<T>>>();

  /** @returns the value, or a promise of it while it is computed */
  get(owner: object, name: string, compute: () => Promise<T>): MaybePromise<T> {
    let byName = this.#entries.get(owner);
    if (!byName) {
      byName = new Map();
      this.#entries.set(owner, byName);
    }
    const cached = byName.get(name);
    if (cached !== undefined) return cached;
    if (byName.size >= MAX_NAMES) byName.clear();
    const promise = compute();
    const stored = byName;
    stored.set(name, promise);
    promise.then(
      (value) => stored.set(name, value),
      () => stored.delete(name),
    );
    return promise;
  }
}
