/** Names that are kept for one owner: a program that asks for more has them made anew. */
const MOST = 256;

/** What is made once for each owner and name, for as long as the owner lives. A failure is not kept. */
export class Kept<T> {
  readonly #all = new WeakMap<object, Map<string, Promise<T>>>();

  of(owner: object, name: string, make: () => Promise<T>): Promise<T> {
    let made = this.#all.get(owner);
    if (!made) {
      made = new Map();
      this.#all.set(owner, made);
    }
    const known = made.get(name);
    if (known) return known;
    if (made.size >= MOST) made.clear();
    const promise = make();
    const kept = made;
    promise.catch(() => kept.delete(name));
    kept.set(name, promise);
    return promise;
  }
}
