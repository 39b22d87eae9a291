/** What the readers and writers of a child have in common, whichever library is behind them. */
import { UnsupportedError } from '../../../util/errors.js';
import type { Batch, ForeignColumn, NamedColumn, TextOptions, WantedColumn } from './protocol.js';

/** A foreign file that is open in the child. */
export interface ColumnReader {
  readonly columns: readonly ForeignColumn[];
  /** Rows in all; null where that is known at the end only. */
  readonly rows: number | null;
  /** Batches with these columns, in the order of rows. */
  batches(wanted: readonly WantedColumn[]): AsyncIterable<Batch> | Iterable<Batch>;
}

/** What is to be written, and where it comes from. */
export interface ColumnSource extends TextOptions {
  readonly columns: readonly NamedColumn[];
  /** The next batch, waited for on this thread; undefined behind the last one. */
  next(): Batch | undefined;
}

/**
 * Loads a package that users install when they need it.
 *
 * @throws UnsupportedError when it is not there, with what to do
 */
export async function optional<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (cause instanceof UnsupportedError) throw cause;
    const { code, message = '' } = cause as NodeJS.ErrnoException;
    const missing = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`);
    throw new UnsupportedError(
      missing
        ? `this format needs the package ${name}, which is not installed: npm install ${name}`
        : `the package ${name}, which this format needs, cannot be loaded: ${message}`,
      { cause, details: { package: name } },
    );
  }
}
