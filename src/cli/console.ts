import type { Readable, Writable } from 'node:stream';
import type { OutputContext } from '../io/output.js';
import { plainText } from '../util/plain-text.js';

/** The process as a command sees it: the one place that knows of streams and signals. */
export interface Console extends OutputContext {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stdin: Readable;
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** Fires when the user interrupts, or nobody reads stdout any more. */
  readonly signal: AbortSignal;
  /** Whether this thread may be held up by a driver: not the one that hears signals. */
  readonly mayBlock: boolean;
  /** The user wants to see no progress and no report. */
  readonly quiet?: boolean;
}

/** What is about to be done may hold up a thread that must not be. */
export class ThreadNeeded extends Error {
  override readonly name = 'ThreadNeeded';
}

/** A result line. */
export const print = ({ stdout }: Console, text: string): void => void stdout.write(`${text}\n`);

/** A line about how it goes, for people. */
export const say = ({ stderr }: Console, text: string): void => void stderr.write(`${plainText(text)}\n`);

/** May what is on stderr be drawn over? It is a terminal that can do that, and nobody asked for quiet. */
export const isDrawable = ({ stderr, quiet = false }: Pick<Console, 'stderr' | 'quiet'>): boolean =>
  !quiet && stderr.isTTY === true && process.env.TERM !== 'dumb';

/** The beginning of a line that a terminal shows as one: what is drawn next would else not begin where it does. */
export const fitting = (line: string, { columns }: Console['stderr']): string =>
  [...line].slice(0, (columns || 80) - 1).join('');
