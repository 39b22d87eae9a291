import type { Readable, Writable } from 'node:stream';
import type { OutputContext } from '../io/streams/output.js';
import { plainText } from '../util/plain-text.js';

/** The process as a command sees it: its streams and its abort signal. */
export interface Console extends OutputContext {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stdin: Readable;
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** Aborts when the user interrupts, or when stdout is closed. */
  readonly signal: AbortSignal;
  /** Suppresses progress and reports. */
  readonly quiet?: boolean;
}

/** Prints a result line on stdout. */
export const print = ({ stdout }: Console, text: string): void => void stdout.write(`${text}\n`);

/** Prints a status line on stderr. */
export const say = ({ stderr }: Console, text: string): void => void stderr.write(`${plainText(text)}\n`);

/** Returns whether progress may be drawn on stderr: a terminal other than `dumb`, and no `--quiet`. */
export const isDrawable = ({ stderr, quiet = false }: Pick<Console, 'stderr' | 'quiet'>): boolean =>
  !quiet && stderr.isTTY === true && process.env.TERM !== 'dumb';

/** Truncates a line to the width of the terminal. A line that wraps would misplace the next drawing. */
export const fitting = (line: string, { columns }: Console['stderr']): string =>
  [...line].slice(0, (columns || 80) - 1).join('');
