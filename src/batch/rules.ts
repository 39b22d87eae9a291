/** A rule for a field of a manifest: check, message and JSON Schema. */

import { isStdin, isStdout } from '../io/streams/raw.js';
import { isObject } from '../util/json.js';

export interface Rule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /** The rule as JSON Schema; `accepts` may be stricter. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export type Rules = Readonly<Record<string, Rule>>;

export const text: Rule = {
  expected: 'a name',
  accepts: (value) => typeof value === 'string' && value.trim() !== '',
  schema: { type: 'string', pattern: '\\S' },
};

/** A string that may be a space or a tab. */
export const anyText: Rule = {
  expected: 'a text of at least one character',
  accepts: (value) => typeof value === 'string' && value !== '',
  schema: { type: 'string', minLength: 1 },
};

const isStdio = (path: string): boolean => isStdin(path) || isStdout(path);

/** Characters that are invalid in file names: NUL, and unpaired surrogates, which would be replaced. */
const IN_NO_NAME = /\0|\p{Cs}/u;

export const file: Rule = {
  expected: "a file name other than '-'",
  accepts: (value) => text.accepts(value) && !isStdio(value as string) && !IN_NO_NAME.test(value as string),
  schema: { type: 'string', pattern: '\\S', not: { const: '-' } },
};

/** One file, or several that are concatenated. */
export const files: Rule = {
  expected: `${file.expected}, or a list of file names`,
  accepts: (value) =>
    file.accepts(value) || (Array.isArray(value) && value.length > 0 && value.every(file.accepts)),
  schema: { anyOf: [file.schema, { type: 'array', items: file.schema, minItems: 1 }] },
};

export const boolean: Rule = {
  expected: 'true or false',
  accepts: (value) => typeof value === 'boolean',
  schema: { type: 'boolean' },
};

export const object: Rule = { expected: 'an object', accepts: isObject, schema: { type: 'object' } };

export const oneOf = (...values: readonly unknown[]): Rule => ({
  expected: `one of ${values.join(', ')}`,
  accepts: (value) => values.includes(value),
  schema: { enum: values },
});

export const list = (rule: Rule): Rule => ({
  expected: `a list (each item ${rule.expected})`,
  accepts: (value) => Array.isArray(value) && value.every(rule.accepts),
  schema: { type: 'array', items: rule.schema },
});
