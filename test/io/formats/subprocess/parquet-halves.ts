/** A Parquet file of f16 keys, which DuckDB does not write, assembled from the format's specification. */

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
const zigzag = (value: number): number[] => varint(value * 2);

/** Types of Thrift's compact protocol. */
const [I32, I64, BINARY, LIST, STRUCT] = [5, 6, 8, 9, 12];

type Field = readonly [id: number, type: number, bytes: readonly number[]];

/** A struct: each field is identified by the difference between its number and the previous one. */
function struct(...fields: readonly Field[]): number[] {
  let last = 0;
  const bytes = fields.flatMap(([id, type, contents]) => {
    const head = ((id - last) << 4) | type;
    last = id;
    return [head, ...contents];
  });
  return [...bytes, 0];
}

const i32 = (id: number, value: number): Field => [id, I32, zigzag(value)];
const i64 = (id: number, value: number): Field => [id, I64, zigzag(value)];
const text = (value: string): number[] => [...varint(value.length), ...Buffer.from(value)];
const list = (id: number, type: number, ...items: readonly number[][]): Field => [
  id,
  LIST,
  [(items.length << 4) | type, ...items.flat()],
];

const FIXED_BYTES = 7;
const FLOAT16 = 15;

/** One required column `h` in one uncompressed page, after a group `g` of one u32 of zeroes. */
export function parquetOfHalves(halves: Uint16Array): Uint8Array {
  const n = halves.length;
  const magic = [...Buffer.from('PAR1')];
  const page = (bytes: readonly number[]): number[] => [
    ...struct(i32(1, 0), i32(2, bytes.length), i32(3, bytes.length), [
      5,
      STRUCT,
      struct(i32(1, n), i32(2, 0), i32(3, 3), i32(4, 3)),
    ]),
    ...bytes,
  ];
  const zeroes = page(Array.from({ length: 4 * n }, () => 0));
  const values = page([...new Uint8Array(halves.buffer, halves.byteOffset, halves.byteLength)]);
  const chunk = (type: number, path: readonly string[], at: number, bytes: number): number[] => {
    const names = path.map(text);
    const sizes = [i64(5, n), i64(6, bytes), i64(7, bytes), i64(9, at)];
    const meta = struct(
      i32(1, type),
      list(2, I32, zigzag(0)),
      list(3, BINARY, ...names),
      i32(4, 0),
      ...sizes,
    );
    return struct(i64(2, at), [3, STRUCT, meta]);
  };
  const columns = [
    chunk(1, ['g', 'u'], 4, zeroes.length),
    chunk(FIXED_BYTES, ['h'], 4 + zeroes.length, values.length),
  ];
  const schema = [
    struct([4, BINARY, text('root')], i32(5, 2)),
    struct(i32(3, 0), [4, BINARY, text('g')], i32(5, 1)),
    struct(i32(1, 1), i32(3, 0), [4, BINARY, text('u')]),
    struct(
      i32(1, FIXED_BYTES),
      i32(2, 2),
      i32(3, 0),
      [4, BINARY, text('h')],
      [10, STRUCT, struct([FLOAT16, STRUCT, struct()])],
    ),
  ];
  const group = struct(list(1, STRUCT, ...columns), i64(2, zeroes.length + values.length), i64(3, n));
  const footer = struct(i32(1, 2), list(2, STRUCT, ...schema), i64(3, n), list(4, STRUCT, group));
  const length = new Uint8Array(Uint32Array.of(footer.length).buffer);
  return Uint8Array.from([...magic, ...zeroes, ...values, ...footer, ...length, ...magic]);
}
