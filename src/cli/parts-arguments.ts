/** Options that default to the values in the manifest of a folder of parts. */
import type { PartsManifest } from '../io/streams/parts.js';
import { UsageError } from '../util/errors.js';
import type { InputArguments } from './options/key-files.js';
import type { OrderArguments } from './options/order.js';
import type { RecordArguments } from './options/records.js';

type FileArguments = Pick<InputArguments, 'format'> &
  Partial<Pick<InputArguments, 'dtype' | 'header' | 'delimiter'>>;

/** Fills options about files from the manifest; given options take precedence. */
export function readParts<A extends FileArguments>(manifest: PartsManifest | undefined, args: A): A {
  if (!manifest || 'record' in manifest.units) return args;
  const { format, bigEndian = false, header, delimiter, units } = manifest;
  return {
    ...args,
    dtype: args.dtype ?? `${units.dtype}${format === 'raw' && bigEndian ? 'be' : ''}`,
    format: args.format === 'auto' ? format : args.format,
    ...(args.header === undefined && header !== undefined && { header }),
    ...(args.delimiter === undefined && delimiter !== undefined && { delimiter }),
  };
}

/**
 * Fills options about files, order and record layout from the manifest.
 *
 * @throws UsageError when `--record` is given for parts that hold keys
 */
export function readPartsOrder<A extends FileArguments & OrderArguments & RecordArguments>(
  manifest: PartsManifest | undefined,
  args: A,
): A {
  if (!manifest) return args;
  const { units } = manifest;
  if ('record' in units) {
    if (args.record !== undefined || args.key !== undefined) return args;
    return { ...args, record: units.record, key: units.keys, nan: units.nan, dtype: undefined };
  }
  if (args.record !== undefined) {
    throw new UsageError('cannot read the parts as records: their manifest defines keys. Omit --record');
  }
  const isAsked = args.descending || args.bits !== undefined || args.nan === 'first';
  const order = { descending: units.descending, nan: units.nan, bits: units.bits.join(':') };
  return { ...readParts(manifest, args), ...(!isAsked && order) };
}
