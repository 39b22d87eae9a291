/** Detects the endianness of an Arrow file, which apache-arrow does not check. Runs in the subprocess. */

/** FlatBuffers field numbers of the schema, in a message and in the file footer. */
export const SCHEMA_FIELD = { message: 2, footer: 1 } as const;
/** FlatBuffers field number of the endianness; the default 0 is not stored and means little-endian. */
const ENDIANNESS = 0;

/** Returns the offset of a table field; undefined if it is absent. */
function fieldAt(bytes: DataView, table: number, id: number): number | undefined {
  const fields = table - bytes.getInt32(table, true);
  const at = 4 + 2 * id;
  const offset = at < bytes.getUint16(fields, true) ? bytes.getUint16(fields + at, true) : 0;
  return offset === 0 ? undefined : table + offset;
}

/**
 * Returns whether the schema in a metadata block declares big-endian numbers.
 *
 * @throws RangeError when an offset points outside the metadata
 */
export function isBigEndian(metadata: Uint8Array, schemaField: number): boolean {
  const bytes = new DataView(metadata.buffer, metadata.byteOffset, metadata.byteLength);
  const at = fieldAt(bytes, bytes.getUint32(0, true), schemaField);
  if (at === undefined) return false;
  const endianness = fieldAt(bytes, at + bytes.getUint32(at, true), ENDIANNESS);
  return endianness !== undefined && bytes.getInt16(endianness, true) !== 0;
}
