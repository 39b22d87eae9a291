/** The order of lines, from the options of sort(1). */
import { UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import {
  compareBytes,
  compareGeneral,
  compareNumeric,
  compareVersions,
  hashOf,
  isBlank,
  numberAt,
  type Text,
} from './line-text.js';

/** How keys are compared: bytes, -n, -g, -V or -R. */
type Comparison = 'text' | 'n' | 'g' | 'V' | 'R';

export interface KeyOptions {
  readonly compare: Comparison;
  /** -f: lower case counts as upper case. */
  readonly fold: boolean;
  /** -d: only blanks, letters and digits count. */
  readonly dictionary: boolean;
  /** -b at the begin and at the end of a key. */
  readonly blanks: readonly [begin: boolean, end: boolean];
  readonly reverse: boolean;
}

interface Position {
  /** From 0. */
  readonly field: number;
  /** From 0; for an end, 0 is the whole field. */
  readonly char: number;
}

interface LineKey extends KeyOptions {
  readonly from: Position | undefined;
  readonly to: Position | undefined;
}

export interface LineOrderOptions extends KeyOptions {
  /** -k: keys, most significant first; empty for the whole line. */
  readonly keys: readonly string[];
  /** -t: the byte between fields; undefined for blanks. */
  readonly separator: number | undefined;
  /** -s, or -u: equal keys keep their order. */
  readonly stable: boolean;
}

/** Returns the options that letters stand for; undefined if there is none. */
function optionsOf(letters: readonly [begin: string, end: string], text: string): KeyOptions | undefined {
  const all = letters.join('');
  if (all === '') return undefined;
  const comparisons = [...new Set([...all].filter((letter) => 'ngVR'.includes(letter)))];
  const [unknown] = /[^bdfgnrRV]/.exec(all) ?? [];
  if (unknown !== undefined)
    throw invalidArgument('-k', 'options of bdfgnrRV', unknown, { advice: `It is in ${text}` });
  if (comparisons.length > 1)
    throw new UsageError(`cannot compare a key by ${comparisons.join(' and ')}: ${text}`);
  return {
    compare: (comparisons[0] ?? 'text') as Comparison,
    fold: all.includes('f'),
    dictionary: all.includes('d'),
    blanks: [letters[0].includes('b'), letters[1].includes('b')],
    reverse: all.includes('r'),
  };
}

/**
 * Parses a key of sort(1): F[.C][OPTIONS][,F[.C][OPTIONS]].
 *
 * @throws UsageError when it is malformed
 */
function keyOf(text: string, inherited: KeyOptions): LineKey {
  const match = /^(\d+)(?:\.(\d+))?([A-Za-z]*)(?:,(\d+)(?:\.(\d+))?([A-Za-z]*))?$/.exec(text);
  const [, field, char, letters = '', endField, endChar, endLetters = ''] = match ?? [];
  if (!match || Number(field) === 0 || char === '0' || Number(endField ?? 1) === 0) {
    throw invalidArgument('-k', 'a key such as 2,2n or 1.3,1.5', text, { advice: 'Fields count from 1' });
  }
  return {
    ...(optionsOf([letters, endLetters], text) ?? inherited),
    from: { field: Number(field) - 1, char: Number(char ?? 1) - 1 },
    to: endField === undefined ? undefined : { field: Number(endField) - 1, char: Number(endChar ?? 0) },
  };
}

const upper = (byte: number): number => (byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte);
const isWord = (byte: number): boolean =>
  isBlank(byte) || (byte >= 0x30 && byte <= 0x39) || (upper(byte) >= 0x41 && upper(byte) <= 0x5a);

export class LineOrder {
  readonly #keys: readonly LineKey[];
  readonly #options: LineOrderOptions;
  readonly #salt = String(Math.random());

  /** @throws UsageError when a key is malformed */
  constructor(options: LineOrderOptions) {
    this.#options = options;
    const whole = { ...options, from: undefined, to: undefined };
    this.#keys = options.keys.length === 0 ? [whole] : options.keys.map((text) => keyOf(text, options));
  }

  /** How whole lines are compared; undefined for keys in lines and for what the addon does not compare. */
  get comparison(): 'text' | 'n' | 'g' | undefined {
    const { compare, keys, fold, dictionary, blanks } = this.#options;
    if (compare === 'V' || compare === 'R' || keys.length > 0) return undefined;
    return fold || dictionary || blanks[0] ? undefined : compare;
  }

  /** Whether lines with equal keys keep their order; otherwise all of their bytes are compared. */
  get isStable(): boolean {
    return this.#options.stable;
  }

  /** Whether the first key is compared in reverse. */
  get isReverse(): boolean {
    return this.#keys[0]?.reverse === true;
  }

  /** Compares by the keys alone. */
  compareKeys(a: Text, b: Text): number {
    for (const key of this.#keys) {
      const difference = this.#compareBy(key, this.#extract(key, a), this.#extract(key, b));
      if (difference !== 0) return key.reverse ? -difference : difference;
    }
    return 0;
  }

  /** Compares by the keys, and lines with equal keys by all of their bytes unless they keep their order. */
  compare(a: Text, b: Text): number {
    const difference = this.compareKeys(a, b);
    if (difference !== 0 || this.#options.stable) return difference;
    return this.#options.reverse ? compareBytes(b, a) : compareBytes(a, b);
  }

  /**
   * Returns a number that is ordered as the first key is, apart from its direction: a smaller key never has a larger
   * number. Keys that are no numbers are NaN with -g, and come first.
   */
  codeOf(line: Text): number {
    const [key] = this.#keys as [LineKey];
    const text = this.#extract(key, line);
    if (key.compare === 'n') return numberAt(text, false) ?? 0;
    if (key.compare === 'g') return numberAt(text, true) ?? Number.NaN;
    if (key.compare === 'V') return 0;
    if (key.compare === 'R') return hashOf(text, this.#salt);
    let code = 0;
    for (let i = 0; i < 6; i++) {
      const at = text.begin + i;
      code = code * 256 + (at < text.end ? (text.bytes[at] as number) : 0);
    }
    return code;
  }

  #compareBy({ compare }: LineKey, a: Text, b: Text): number {
    if (compare === 'n') return compareNumeric(a, b);
    if (compare === 'g') return compareGeneral(a, b);
    if (compare === 'V') return compareVersions(a, b);
    if (compare === 'R') return hashOf(a, this.#salt) - hashOf(b, this.#salt) || compareBytes(a, b);
    return compareBytes(a, b);
  }

  /** Returns the text of a key; folded and filtered if it asks for that. */
  #extract(key: LineKey, line: Text): Text {
    if (!key.from && !key.fold && !key.dictionary && !key.blanks[0]) return line;
    const { bytes } = line;
    const begin = this.#begin(key, line);
    const end = Math.max(begin, this.#end(key, line));
    const isText = key.compare === 'text' || key.compare === 'V' || key.compare === 'R';
    if (!isText || (!key.fold && !key.dictionary)) return { bytes, begin, end };
    const kept = [...bytes.subarray(begin, end)].filter((byte) => !key.dictionary || isWord(byte));
    return { bytes: Buffer.from(key.fold ? kept.map(upper) : kept), begin: 0, end: kept.length };
  }

  #begin({ from = { field: 0, char: 0 }, blanks }: LineKey, line: Text): number {
    let at = this.#skipFields(line, from.field, true);
    if (blanks[0]) while (at < line.end && isBlank(line.bytes[at])) at++;
    return Math.min(line.end, at + from.char);
  }

  #end({ to, blanks }: LineKey, line: Text): number {
    if (!to) return line.end;
    if (to.char === 0) return this.#skipFields(line, to.field + 1, false);
    let at = this.#skipFields(line, to.field, true);
    if (blanks[1]) while (at < line.end && isBlank(line.bytes[at])) at++;
    return Math.min(line.end, at + to.char);
  }

  /** Returns the position after some fields, and after the separator behind them if asked for. */
  #skipFields({ bytes, begin, end }: Text, fields: number, withSeparator: boolean): number {
    const { separator } = this.#options;
    let at = begin;
    for (let left = fields; at < end && left > 0; left--) {
      if (separator === undefined) {
        while (at < end && isBlank(bytes[at])) at++;
        while (at < end && !isBlank(bytes[at])) at++;
      } else {
        while (at < end && bytes[at] !== separator) at++;
        if (at < end && (left > 1 || withSeparator)) at++;
      }
    }
    return at;
  }
}
