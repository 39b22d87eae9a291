/** Parser for the Python literals in NumPy headers. Nothing is evaluated. */

/** A parsed literal: numbers are integers; tuples and lists are arrays. */
export type Literal = string | boolean | null | bigint | readonly Literal[] | ReadonlyMap<string, Literal>;

const TOKEN = /\s*(?:'([^'\\\n]*)'|"([^"\\\n]*)"|(\d+)L?|(True|False|None)|([{}()[\],:]))/y;

/** Maximum nesting depth of a literal; headers of arrays have few levels. */
const MAX_DEPTH = 8;

/** Returns the value of a text with exactly one literal; undefined for any other text. */
export function parseLiteral(text: string): Literal | undefined {
  return new Parser(text).whole();
}

class Parser {
  readonly #text: string;
  #at = 0;
  #token: RegExpExecArray | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#next();
  }

  whole(): Literal | undefined {
    const literal = this.#literal(0);
    return this.#token === null && /^\s*$/.test(this.#text.slice(this.#at)) ? literal : undefined;
  }

  #next(): void {
    TOKEN.lastIndex = this.#at;
    this.#token = TOKEN.exec(this.#text);
    if (this.#token) this.#at = TOKEN.lastIndex;
  }

  /** Consumes a token if it comes next. */
  #accept(sign: string): boolean {
    if (this.#token?.[5] !== sign) return false;
    this.#next();
    return true;
  }

  #literal(depth: number): Literal | undefined {
    const [, single, double, number, name] = this.#token ?? [];
    if (depth > MAX_DEPTH) return undefined;
    if (this.#accept('{')) return this.#dictionary(depth);
    if (this.#accept('(')) return this.#list(')', depth);
    if (this.#accept('[')) return this.#list(']', depth);
    const string = single ?? double;
    if ((string ?? number ?? name) === undefined) return undefined;
    this.#next();
    if (string !== undefined) return string;
    if (number !== undefined) return number.length > 30 ? undefined : BigInt(number);
    return name === 'None' ? null : name === 'True';
  }

  /** Parses up to the closing token. One element in parentheses without a comma also counts as a tuple. */
  #list(end: ')' | ']', depth: number): Literal[] | undefined {
    const list: Literal[] = [];
    while (!this.#accept(end)) {
      const one = this.#literal(depth + 1);
      if (one === undefined) return undefined;
      list.push(one);
      if (this.#accept(',')) continue;
      return this.#accept(end) ? list : undefined;
    }
    return list;
  }

  #dictionary(depth: number): Map<string, Literal> | undefined {
    const map = new Map<string, Literal>();
    while (!this.#accept('}')) {
      const key = this.#literal(depth + 1);
      if (typeof key !== 'string' || map.has(key) || !this.#accept(':')) return undefined;
      const value = this.#literal(depth + 1);
      if (value === undefined) return undefined;
      map.set(key, value);
      if (this.#accept(',')) continue;
      return this.#accept('}') ? map : undefined;
    }
    return map;
  }
}
