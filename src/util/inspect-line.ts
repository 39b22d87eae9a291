import { type InspectOptions, inspect } from 'node:util';

/** Formats an object as `util.inspect` shows it, in one line: `NAME { field: value }`. */
export const inspectLine = (name: string, fields: object, options: InspectOptions): string =>
  `${name} ${inspect(fields, { ...options, breakLength: Number.POSITIVE_INFINITY })}`;
