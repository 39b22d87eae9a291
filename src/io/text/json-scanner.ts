/** JSON in bytes: where values begin and end. All of it is checked, and nothing is changed. */

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS, PLUS, POINT] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x2b, 0x2e];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Lists and objects in each other. */
const MAX_DEPTH = 1000;

/** What is wrong, and where. */
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

/** Words that are values. Those of numbers are no standard JSON, and common all the same. */
const WORDS = ['true', 'false', 'null', 'NaN', 'Infinity', '-Infinity'].map((word) => Buffer.from(word));

/** Goes through one text. */
export class JsonScanner {
  #bytes: Uint8Array = new Uint8Array(0);
  #end = 0;

  /** @param end where the text ends */
  reset(bytes: Uint8Array, end: number): void {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** The first byte from `at` on that is not blank. */
  skipBlanks(at: number): number {
    while (at < this.#end && isBlank(this.#bytes[at])) at++;
    return at;
  }

  /** Where a value ends that begins at a place. @throws JsonFault */
  value(at: number, depth = 0): number {
    const byte = at < this.#end ? this.#bytes[at] : undefined;
    switch (byte) {
      case QUOTE:
        return this.string(at);
      case OPEN_OBJECT:
        return this.members(at, () => undefined, depth);
      case OPEN_LIST:
        return this.#list(at, depth);
      default:
        if (isDigit(byte) || (byte === MINUS && isDigit(this.#bytes[at + 1]))) return this.#number(at);
        return this.#word(at);
    }
  }

  /** Where a string ends, behind its quote. @throws JsonFault */
  string(open: number): number {
    const bytes = this.#bytes;
    for (let at = open + 1; at < this.#end; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) return at + 1;
      if (byte < 0x20) throw new JsonFault('a control character stands in a text', at);
      if (byte === BACKSLASH) at = this.#escape(at);
    }
    throw new JsonFault('a text is not closed', open);
  }

  /** The last byte of what is escaped. */
  #escape(at: number): number {
    const byte = at + 1 < this.#end ? (this.#bytes[at + 1] as number) : 0;
    if (byte !== 0x75) {
      if ('"\\/bfnrt'.includes(String.fromCharCode(byte)) && byte !== 0) return at + 1;
      throw new JsonFault('a backslash escapes nothing', at);
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

  #list(at: number, depth: number): number {
    if (depth > MAX_DEPTH) throw new JsonFault(`lists and objects are more than ${MAX_DEPTH} deep`, at);
    at = this.skipBlanks(at + 1);
    if (this.#is(at, CLOSE_LIST)) return at + 1;
    for (;;) {
      at = this.skipBlanks(this.value(at, depth + 1));
      if (this.#is(at, CLOSE_LIST)) return at + 1;
      if (!this.#is(at, COMMA)) throw new JsonFault('a list goes on without a comma', at);
      at = this.skipBlanks(at + 1);
    }
  }

  /**
   * Goes through the members of an object.
   *
   * @param found gets where each name begins and ends, quotes and all, and its value
   * @returns where the object ends
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
      if (!this.#is(at, COLON)) throw new JsonFault('a colon is missing behind a name', at);
      const begin = this.skipBlanks(at + 1);
      const end = this.value(begin, depth + 1);
      found(nameBegin, nameEnd, begin, end);
      at = this.skipBlanks(end);
      if (this.#is(at, CLOSE_OBJECT)) return at + 1;
      if (!this.#is(at, COMMA)) throw new JsonFault('an object goes on without a comma', at);
      at = this.skipBlanks(at + 1);
    }
  }

  #is(at: number, byte: number): boolean {
    return at < this.#end && this.#bytes[at] === byte;
  }
}

/** A name or a text, by its bytes, quotes and all. */
export const jsonText = (bytes: Uint8Array): string => JSON.parse(Buffer.from(bytes).toString()) as string;
