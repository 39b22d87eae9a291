/** Validating JSON scanner that finds the byte ranges of values. */

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS, PLUS, POINT] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x2b, 0x2e];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Maximum nesting depth of lists and objects. */
const MAX_DEPTH = 1000;

/** A syntax error and its byte offset. */
export class JsonFault extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

export const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Literals. The non-standard number literals are common in practice. */
const WORDS = ['true', 'false', 'null', 'NaN', 'Infinity', '-Infinity'].map((word) => Buffer.from(word));

/** Scans one JSON text. */
export class JsonScanner {
  #bytes: Uint8Array = new Uint8Array(0);
  #end = 0;

  /** @param end  end of the text */
  reset(bytes: Uint8Array, end: number): void {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** Returns the offset of the first non-blank byte from `at` on. */
  skipBlanks(at: number): number {
    while (at < this.#end && isBlank(this.#bytes[at])) at++;
    return at;
  }

  /**
   * Returns the end of the value at an offset.
   *
   * @throws JsonFault when the value is invalid
   */
  value(at: number, depth = 0): number {
    const byte = at < this.#end ? this.#bytes[at] : undefined;
    switch (byte) {
      case QUOTE:
        return this.string(at);
      case OPEN_OBJECT:
        return this.members(at, () => undefined, depth);
      case OPEN_LIST:
        return this.elements(at, () => undefined, depth);
      default:
        if (isDigit(byte) || (byte === MINUS && isDigit(this.#bytes[at + 1]))) return this.#number(at);
        return this.#word(at);
    }
  }

  /**
   * Returns the end of a string, after its closing quote.
   *
   * @throws JsonFault when the string is invalid
   */
  string(open: number): number {
    const bytes = this.#bytes;
    for (let at = open + 1; at < this.#end; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) return at + 1;
      if (byte < 0x20) throw new JsonFault('a string has a control character', at);
      if (byte === BACKSLASH) at = this.#escape(at);
    }
    throw new JsonFault('a string is not closed', open);
  }

  /** Returns the offset of the last byte of an escape sequence. */
  #escape(at: number): number {
    const byte = at + 1 < this.#end ? (this.#bytes[at + 1] as number) : 0;
    if (byte !== 0x75) {
      if ('"\\/bfnrt'.includes(String.fromCharCode(byte)) && byte !== 0) return at + 1;
      throw new JsonFault('an escape sequence is unknown', at);
    }
    const hex = String.fromCharCode(...this.#bytes.subarray(at + 2, Math.min(at + 6, this.#end)));
    if (!/^[\da-f]{4}$/i.test(hex)) throw new JsonFault('\\u is not followed by four digits', at);
    return at + 5;
  }

  #number(at: number): number {
    const bytes = this.#bytes;
    const begin = at;
    if (bytes[at] === MINUS) at++;
    const digits = (): void => {
      if (at >= this.#end || !isDigit(bytes[at])) throw new JsonFault('a number has no digit', begin);
      while (at < this.#end && isDigit(bytes[at])) at++;
    };
    if (bytes[at] === 0x30) at++;
    else digits();
    if (at < this.#end && bytes[at] === POINT) {
      at++;
      digits();
    }
    if (at < this.#end && ((bytes[at] as number) | 0x20) === 0x65) {
      at++;
      if (bytes[at] === MINUS || bytes[at] === PLUS) at++;
      digits();
    }
    return at;
  }

  #word(at: number): number {
    const word = WORDS.find(
      (one) => at + one.length <= this.#end && one.every((byte, k) => this.#bytes[at + k] === byte),
    );
    if (!word) throw new JsonFault('a value is missing', at);
    return at + word.length;
  }

  /**
   * Scans the elements of a list.
   *
   * @param found  called with the index, the start and the end of each
   * @returns the end of the list
   * @throws JsonFault when the list is invalid
   */
  elements(at: number, found: (index: number, begin: number, end: number) => void, depth = 0): number {
    if (depth > MAX_DEPTH) throw new JsonFault(`lists and objects are more than ${MAX_DEPTH} deep`, at);
    at = this.skipBlanks(at + 1);
    if (this.#is(at, CLOSE_LIST)) return at + 1;
    for (let index = 0; ; index++) {
      const end = this.value(at, depth + 1);
      found(index, at, end);
      at = this.skipBlanks(end);
      if (this.#is(at, CLOSE_LIST)) return at + 1;
      if (!this.#is(at, COMMA)) throw new JsonFault('a comma is missing in a list', at);
      at = this.skipBlanks(at + 1);
    }
  }

  /**
   * Scans the members of an object.
   *
   * @param found  called with the start and end of each name, including quotes, and of its value
   * @returns the end of the object
   * @throws JsonFault when the object is invalid
   */
  members(
    at: number,
    found: (nameBegin: number, nameEnd: number, begin: number, end: number) => void,
    depth = 0,
  ): number {
    if (depth > MAX_DEPTH) throw new JsonFault(`lists and objects are more than ${MAX_DEPTH} deep`, at);
    at = this.skipBlanks(at + 1);
    if (this.#is(at, CLOSE_OBJECT)) return at + 1;
    for (;;) {
      if (!this.#is(at, QUOTE)) throw new JsonFault('a name in quotes is missing', at);
      const nameBegin = at;
      const nameEnd = this.string(at);
      at = this.skipBlanks(nameEnd);
      if (!this.#is(at, COLON)) throw new JsonFault('a colon is missing after a name', at);
      const begin = this.skipBlanks(at + 1);
      const end = this.value(begin, depth + 1);
      found(nameBegin, nameEnd, begin, end);
      at = this.skipBlanks(end);
      if (this.#is(at, CLOSE_OBJECT)) return at + 1;
      if (!this.#is(at, COMMA)) throw new JsonFault('a comma is missing in an object', at);
      at = this.skipBlanks(at + 1);
    }
  }

  #is(at: number, byte: number): boolean {
    return at < this.#end && this.#bytes[at] === byte;
  }
}

/** Returns the content of a quoted name or string. */
export const jsonText = (bytes: Uint8Array): string => JSON.parse(Buffer.from(bytes).toString()) as string;
