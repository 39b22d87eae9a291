import type { Soon } from './soon.js';

/** Names that are kept for one owner: a program that asks for more has them made anew. */
const MOST = 256;

/** What is made once for each owner and name, for as long as the owner lives. A failure is not kept. */
export class Kept<T> {
  readonly #all = new WeakMap<object, Map<string, Soon<T>>>();

  /** @returns what is made, or the promise of it when it is not there yet */
  of(owner: object, name: string, make: () => Promise<T>): Soon<T> {
    let made = this.#all.get(owner);
    if (!made) {
      made = new Map();
      this.#all.set(owner, made);
    }
    const known = made.get(name);
    if (known !== undefined) return known;
    if (made.size >= MOST) made.clear();
    const promise = make();
    const kept = made;
    kept.set(name, promise);
    promise.then(
      (value) => kept.set(name, value),
      () => kept.delete(name),
    );
    return promise;
  }
}
