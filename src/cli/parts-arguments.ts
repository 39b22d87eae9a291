/** What a folder of parts says of itself stands for options that say nothing. */
import type { PartsManifest } from '../io/parts.js';
import { UsageError } from '../util/errors.js';
import type { OrderArguments } from './options/order.js';
import type { RecordArguments } from './options/records.js';

interface FileArguments {
  readonly dtype?: string | undefined;
  readonly format: string;
  readonly header?: boolean | undefined;
  readonly delimiter?: string | undefined;
}

/** The options about files, with what the manifest tells. */
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

/** The same with the order, and the layout of records. @throws UsageError where options say another order */
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
    throw new UsageError('the parts hold keys, as their manifest says: --record is for records');
  }
  const isAsked = args.descending || args.bits !== undefined || args.nan === 'first';
  const order = { descending: units.descending, nan: units.nan, bits: units.bits.join(':') };
  return { ...readParts(manifest, args), ...(!isAsked && order) };
}
