import type { MaybePromise } from './maybe-promise.js';

/** Names that are kept for one owner: a program that asks for more has them made anew. */
const MAX_NAMES = 256;

/** What is made once for each owner and name, for as long as the owner lives. A failure is not kept. */
export class Memo<T> {
  readonly #entries = new WeakMap<object, Map<string, MaybePromise<T>>>();

  /** @returns what is made, or the promise of it when it is not there yet */
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
