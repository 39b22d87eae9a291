/** Which end of numbers comes first in an Arrow file: apache-arrow does not ask. Runs in the child. */

/** Numbers of the fields that hold the schema: in a message, and at the end of a file. */
export const SCHEMA_FIELD = { message: 2, footer: 1 } as const;
/** Number of the schema's field that says it; 0, which is not written, is little-endian. */
const ENDIANNESS = 0;

/** Where a field of a table is; undefined where it is not written. */
function fieldAt(bytes: DataView, table: number, id: number): number | undefined {
  const fields = table - bytes.getInt32(table, true);
  const at = 4 + 2 * id;
  const offset = at < bytes.getUint16(fields, true) ? bytes.getUint16(fields + at, true) : 0;
  return offset === 0 ? undefined : table + offset;
}

/**
 * Whether the schema in some metadata says that numbers are big-endian.
 *
 * @throws RangeError when the metadata points out of itself
 */
export function isBigEndian(metadata: Uint8Array, schemaField: number): boolean {
  const bytes = new DataView(metadata.buffer, metadata.byteOffset, metadata.byteLength);
  const at = fieldAt(bytes, bytes.getUint32(0, true), schemaField);
  if (at === undefined) return false;
  const endianness = fieldAt(bytes, at + bytes.getUint32(at, true), ENDIANNESS);
  return endianness !== undefined && bytes.getInt16(endianness, true) !== 0;
}
