/** Positions of values and syntax errors in JSON text, which not all versions of V8 report. */

/** Names and indices from the root to a value. */
export type Path = readonly (string | number)[];

/** A JSON syntax error at `offset`. */
export class NotJson extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const SPACE = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: strings of JSON must not have them
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

class JsonScanner {
  #at = 0;
  readonly #text: string;
  readonly #wanted: Path;
  /** Position and depth of the longest prefix of the path found so far. */
  found = { offset: 0, steps: -1 };

  constructor(text: string, wanted: Path) {
    this.#text = text;
    this.#wanted = wanted;
  }

  whole(): void {
    this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) this.#fail('the end');
  }

  /** @param steps number of path elements matched so far; −1 when the value is not on the path */
  #value(steps: number): void {
    this.#space();
    if (steps > this.found.steps) this.found = { offset: this.#at, steps };
    const first = this.#text[this.#at];
    if (first === '{') this.#object(steps);
    else if (first === '[') this.#list(steps);
    else if (first === '"') this.#consume(STRING, 'a complete string');
    else this.#consume(SCALAR, 'a value');
  }

  #object(steps: number): void {
    this.#members('}', () => {
      this.#space();
      const at = this.#at;
      const name = JSON.parse(this.#consume(STRING, 'a name in quotes'));
      const isWanted = steps >= 0 && name === this.#wanted[steps];
      if (isWanted && steps + 1 > this.found.steps) this.found = { offset: at, steps: steps + 1 };
      this.#space();
      if (this.#text[this.#at++] !== ':') this.#fail("':'", this.#at - 1);
      this.#value(isWanted ? steps + 1 : -1);
    });
  }

  #list(steps: number): void {
    let index = 0;
    this.#members(']', () => this.#value(steps >= 0 && index++ === this.#wanted[steps] ? steps + 1 : -1));
  }

  #members(end: string, member: () => void): void {
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === end) {
      this.#at++;
      return;
    }
    for (;;) {
      member();
      this.#space();
      const next = this.#text[this.#at++];
      if (next === end) return;
      if (next !== ',') this.#fail(`',' or '${end}'`, this.#at - 1);
    }
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    SPACE.test(this.#text);
    this.#at = SPACE.lastIndex;
  }

  #consume(token: RegExp, expected: string): string {
    token.lastIndex = this.#at;
    const [consumed] = token.exec(this.#text) ?? [];
    if (consumed === undefined) return this.#fail(expected);
    this.#at = token.lastIndex;
    return consumed;
  }

  #fail(expected: string, at = this.#at): never {
    const rest = this.#text.slice(at, at + 12);
    throw new NotJson(at, `expected ${expected} but got ${rest === '' ? 'the end' : JSON.stringify(rest)}`);
  }
}

/** Returns the first syntax error of a text; undefined when it is valid JSON. */
export function syntaxErrorOffset(text: string): NotJson | undefined {
  try {
    new JsonScanner(text, []).whole();
    return undefined;
  } catch (error) {
    if (error instanceof NotJson) return error;
    if (error instanceof RangeError) return new NotJson(0, 'expected less deeply nested values');
    throw error;
  }
}

/**
 * Returns the offset of the value at a path, or of its closest existing container.
 *
 * @param text valid JSON
 * @param path path of the value
 */
export function offsetOf(text: string, path: Path): number {
  const scanner = new JsonScanner(text, path);
  try {
    scanner.whole();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // nested too deeply; the position found so far is returned
  }
  return scanner.found.offset;
}

/** Returns line and column, both from 1. */
export function lineAndColumn(text: string, offset: number): [line: number, column: number] {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  return [before.split('\n').length, offset - start + 1];
}
