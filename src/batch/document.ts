/** A manifest as data, with the position of each part in its text. */

import { FormatError, UsageError } from '../util/errors.js';
import { isObject, parseJson } from '../util/json.js';
import { optionalPackage } from '../util/optional-package.js';
import { lineAndColumn, offsetOf, type Path, syntaxErrorOffset } from './json-position.js';

export const MANIFEST_FORMATS = ['json', 'yaml', 'ndjson'] as const;
export type ManifestFormat = (typeof MANIFEST_FORMATS)[number];

export interface Document {
  readonly value: unknown;
  /** Returns the position of a part, such as `jobs.json:3:7`; that of its container when it is missing. */
  readonly at: (path: Path) => string;
}

/** Detects the format of a manifest by its name, otherwise by its beginning. */
export function manifestFormat(name: string, text: string): ManifestFormat {
  if (/\.ya?ml$/i.test(name)) return 'yaml';
  const first = firstLine(text);
  if (/\.(ndjson|jsonl)$/i.test(name)) return objectOf(first)?.jobs === undefined ? 'ndjson' : 'json';
  if (/^[[{]/.test(first) || first === '') return isJobLine(first) ? 'ndjson' : 'json';
  return /\.json$/i.test(name) ? 'json' : 'yaml';
}

/**
 * Whether a first line belongs to NDJSON: a job, or the head with the defaults of the jobs that follow. An object with
 * `jobs` is a manifest.
 */
export function isJobLine(line: string): boolean {
  const value = objectOf(line);
  return value !== undefined && value.jobs === undefined && ('in' in value || isHead(value));
}

function objectOf(line: string): Record<string, unknown> | undefined {
  const value = line.startsWith('{') ? parseJson(line) : undefined;
  return isObject(value) ? value : undefined;
}

export const firstLine = (text: string): string => /^\s*(.*)/.exec(text)?.[1]?.trim() ?? '';

/**
 * Parses a manifest.
 *
 * @throws UsageError with file, line and column when the syntax is invalid
 * @throws PackageError when the YAML package is not installed
 */
export async function readDocument(text: string, name: string): Promise<Document> {
  const plain = stripBom(text);
  const format = manifestFormat(name, plain);
  if (format === 'yaml') return yamlDocument(plain, name);
  return format === 'json' ? jsonDocument(plain, name) : linesDocument(plain, name);
}

/** Removes a byte order mark. */
export const stripBom = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);

function jsonDocument(text: string, name: string): Document {
  const place = (offset: number): string => [name, ...lineAndColumn(text, offset)].join(':');
  return { value: parsedJson(text, place, name), at: (path) => place(offsetOf(text, path)) };
}

function parsedJson(text: string, place: (offset: number) => string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const broken = syntaxErrorOffset(text);
    const what = broken ? `${place(broken.offset)}: ${broken.message}` : (cause as Error).message;
    throw new UsageError(`cannot read ${name} as JSON: ${what}`, { cause });
  }
}

/** Parses one job per line; the first line may hold the head. */
function linesDocument(text: string, name: string): Document {
  const lines = text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [{ line, number: i + 1 }]));
  const values = lines.map(({ line, number }) =>
    parsedJson(line, (offset) => `${name}:${number}:${offset + 1}`, name),
  );
  const head = isHead(values[0]) ? 1 : 0;
  const value = { ...(head ? (values[0] as object) : {}), jobs: values.slice(head) };
  const at = (path: Path): string => {
    const [field, index, ...rest] = path;
    const isOfJob = field === 'jobs' && typeof index === 'number';
    const found = lines[isOfJob ? index + head : 0];
    if (!found) return name;
    return `${name}:${found.number}:${offsetOf(found.line, isOfJob ? rest : path) + 1}`;
  };
  return { value, at };
}

/** Whether a first line of NDJSON is a head, with settings for all jobs. */
export const isHead = (value: unknown): boolean =>
  isObject(value) &&
  value.in === undefined &&
  ('defaults' in value || 'devices' in value || 'schema' in value);

async function yamlDocument(text: string, name: string): Promise<Document> {
  const { isAlias, LineCounter, parseDocument, visit } = await optionalPackage(
    'yaml',
    `the YAML file ${name}`,
    () => import('yaml'),
  );
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const place = (offset: number): string => {
    const { line, col } = counter.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const [error] = document.errors;
  if (error)
    throw new UsageError(`cannot read ${name} as YAML: ${place(error.pos[0])}: ${error.message}`, {
      cause: error,
    });
  const at = (path: Path): string => {
    for (let steps = path.length; steps >= 0; steps--) {
      const node = document.getIn(path.slice(0, steps), true) as { range?: [number, number, number] | null };
      if (node?.range) return place(node.range[0]);
    }
    return name;
  };
  visit(document, (_, node) => {
    if (!isAlias(node) || node.resolve(document)) return;
    const where = place(node.range?.[0] ?? 0);
    throw new UsageError(`cannot read ${name} as YAML: ${where}: the anchor &${node.source} is not defined`);
  });
  try {
    return { value: document.toJS({ maxAliasCount: 1000 }), at };
  } catch (cause) {
    throw new FormatError(`cannot read ${name}: ${(cause as Error).message}`, { cause });
  }
}
