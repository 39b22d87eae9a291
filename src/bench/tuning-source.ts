/** Generates the source of a file in src/algorithms/tunings from measured parameters. */
import { basename } from 'node:path';
import type { DeviceTuning } from '../algorithms/tuning-rows.js';
import type { KnownDevice } from '../device/device.js';

/** Maximum line length, in characters. */
const LINE = 110;

/**
 * Returns the devices to which a measurement applies: those of the same architecture if it is known, otherwise those of
 * the same name.
 */
export const whereOf = ({ info, capabilities }: KnownDevice): DeviceTuning['where'] =>
  capabilities.architecture === undefined
    ? { device: info.name }
    : { architecture: capabilities.architecture };

/**
 * Returns the source of a tuning file.
 *
 * @param file path of the file; its base name becomes the name of the constant
 */
export function tuningSource(tuning: DeviceTuning, file: string): string {
  return `import type { DeviceTuning } from '../tuning-rows.js';

export const ${identifier(basename(file, '.ts'))}: DeviceTuning = ${literal(tuning, '')};
`;
}

/** Converts `an-other` to `anOther`. */
function identifier(text: string): string {
  const [first = '', ...rest] = text.split(/[^a-z\d]+/i).filter(Boolean);
  const name = [first, ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
  return /^[a-z]/i.test(name) ? name : `device${name}`;
}

/** Formats data as an expression, one property per line. */
function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'number') return numeral(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((one) => `${inner}${literal(one, inner)},\n`).join('')}${indent}]`;
  }
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  if (entries.length === 0) return '{}';
  const line = ([name, one]: [string, unknown]): string => {
    const text = literal(one, inner);
    const isLong = typeof one === 'string' && inner.length + name.length + text.length + 3 > LINE;
    return `${inner}${name}:${isLong ? `\n${inner}  ` : ' '}${text},\n`;
  };
  return `{\n${entries.map(line).join('')}${indent}}`;
}

const quoteText = (text: string): string =>
  text.includes("'") && !text.includes('"') ? JSON.stringify(text) : `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

/** Formats a number; powers of two from 2^12 on as `2 ** n`. */
function numeral(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return 'Number.POSITIVE_INFINITY';
  const power = Math.log2(value);
  return power >= 12 && Number.isInteger(power) ? `2 ** ${power}` : String(value);
}
