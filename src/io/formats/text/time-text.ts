/** Parses dates and times in ISO 8601 or in a given format. */

/** A parsed time in whole seconds and nanoseconds. */
export interface ReadTime {
  /** Days since 1970-01-01; 0 for a time of day. */
  readonly days: number;
  /** Seconds of the day, in UTC if there is an offset; may be negative or exceed a day. */
  readonly seconds: number;
  readonly nanoseconds: number;
  /** Number of digits of the fraction. */
  readonly digits: number;
  /** Minutes east of UTC; undefined if unspecified. */
  readonly offset: number | undefined;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;
const ISO_TIME = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$/;

const DAY_MS = 86_400_000;

/** Returns the days since 1970-01-01; undefined for a day that does not exist. */
function daysOf(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() / DAY_MS;
}

function clockOf(hour: number, minute: number, second: number): number | undefined {
  return hour < 24 && minute < 60 && second < 60 ? hour * 3600 + minute * 60 + second : undefined;
}

const nanosecondsOf = (fraction: string): number => Number(fraction.padEnd(9, '0'));

function offsetOf(text: string): number {
  if (text === 'Z') return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(3).replace(':', '') || 0);
  return text[0] === '-' ? -minutes : minutes;
}

function timeOf(
  days: number | undefined,
  seconds: number | undefined,
  fraction: string,
  offset: number | undefined,
): ReadTime | undefined {
  if (days === undefined || seconds === undefined) return undefined;
  const digits = fraction.length;
  return {
    days,
    seconds: seconds - (offset ?? 0) * 60,
    nanoseconds: nanosecondsOf(fraction),
    digits,
    offset,
  };
}

/** Parses `2020-01-31`. */
export function isoDate(text: string): number | undefined {
  if (text.length !== 10) return undefined;
  const [, year, month, day] = ISO.exec(text) ?? [];
  return year === undefined ? undefined : daysOf(Number(year), Number(month), Number(day));
}

/** Parses `2020-01-31T10:00:00.5Z`. The T may be a blank; seconds, fraction and zone are optional. */
export function isoTimestamp(text: string): ReadTime | undefined {
  const [, year, month, day, hour, minute, second = '0', fraction = '', zone] = ISO.exec(text) ?? [];
  if (hour === undefined) return undefined;
  return timeOf(
    daysOf(Number(year), Number(month), Number(day)),
    clockOf(Number(hour), Number(minute), Number(second)),
    fraction,
    zone === undefined ? undefined : offsetOf(zone),
  );
}

/** Parses `10:00:00.5`. */
export function isoTime(text: string): ReadTime | undefined {
  const [, hour, minute, second, fraction = ''] = ISO_TIME.exec(text) ?? [];
  return hour === undefined
    ? undefined
    : timeOf(0, clockOf(Number(hour), Number(minute), Number(second)), fraction, undefined);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH_NAMES =
  'january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec';

/** Format specifiers and the patterns that they match. */
const PARTS: Readonly<Record<string, string>> = {
  Y: '(?<Y>\\d{4})',
  y: '(?<y>\\d\\d)',
  m: '(?<m>\\d\\d?)',
  d: '(?<d>\\d\\d?)',
  b: `(?<b>${MONTH_NAMES})`,
  B: `(?<b>${MONTH_NAMES})`,
  H: '(?<H>\\d\\d?)',
  I: '(?<I>\\d\\d?)',
  p: '(?<p>am|pm)',
  M: '(?<M>\\d\\d?)',
  S: '(?<S>\\d\\d?)',
  f: '(?<f>\\d{1,9})',
  z: '(?<z>Z|[+-]\\d\\d:?\\d\\d)',
  '%': '%',
};

/** Format specifiers, for messages. */
export const FORMAT_PARTS: readonly string[] = Object.keys(PARTS).map((part) => `%${part}`);

/** Parses dates and times of one format. */
export type TimeReader = (text: string) => ReadTime | undefined;

/** Returns the parser of a format such as `%d/%m/%Y`; undefined for an unknown or repeated specifier. */
export function timeReader(format: string): TimeReader | undefined {
  let pattern = '';
  for (let i = 0; i < format.length; i++) {
    const character = format[i] as string;
    const part =
      character === '%' ? PARTS[format[++i] ?? ''] : character.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
    if (part === undefined) return undefined;
    pattern += part;
  }
  const expression = expressionOf(`^${pattern}$`);
  return (
    expression &&
    ((text) => {
      const found = expression.exec(text)?.groups;
      return found && readParts(found);
    })
  );
}

/** A repeated group name is a syntax error. */
function expressionOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'i');
  } catch {
    return undefined;
  }
}

function readParts(found: Readonly<Record<string, string | undefined>>): ReadTime | undefined {
  const { Y, y, m, d = '1', b, H, I, p, M = '0', S = '0', f = '', z } = found;
  // Two-digit years range from 1969 to 2068, as in POSIX.
  const year =
    Y === undefined ? (y === undefined ? 1970 : Number(y) + (Number(y) < 69 ? 2000 : 1900)) : Number(Y);
  const month = b === undefined ? Number(m ?? 1) : MONTHS.indexOf(b.slice(0, 3).toLowerCase()) + 1;
  let hour = Number(H ?? I ?? 0);
  if (I !== undefined && (hour < 1 || hour > 12)) return undefined;
  if (I !== undefined) hour = (hour % 12) + (p?.toLowerCase() === 'pm' ? 12 : 0);
  return timeOf(
    daysOf(year, month, Number(d)),
    clockOf(hour, Number(M), Number(S)),
    f,
    z === undefined ? undefined : offsetOf(z.toUpperCase()),
  );
}
