/** Dictionaries of an Arrow file. Runs in the subprocess. */
import type { Dictionary, Field } from 'apache-arrow';
import type { Cells } from '../../tables/row-layout.js';
import { fixedBytes, type TableType } from '../../tables/table-type.js';
import { type ArrowPackage, damagedFile, type FoundDictionary } from '../arrow-file.js';
import { ArrowBatch } from './arrow-cells.js';
import { tableField } from './arrow-types.js';

export type DictionaryValues = Cells & { readonly rows: number };

interface Known {
  readonly field: Field;
  readonly type: TableType;
}

/** All dictionaries of a file that have been read so far. */
export class ArrowTableDictionaries {
  readonly #arrow: ArrowPackage;
  readonly #known = new Map<number, Known>();
  readonly values = new Map<number, DictionaryValues>();

  constructor(arrow: ArrowPackage, fields: readonly Field[]) {
    this.#arrow = arrow;
    for (const field of fields) this.#find(field);
  }

  /** Registers the dictionaries of a column and its nested parts. */
  #find(field: Field): void {
    if (this.#arrow.DataType.isDictionary(field.type)) {
      const { id, dictionary } = field.type as Dictionary;
      const value = this.#arrow.Field.new({ name: field.name, type: dictionary, nullable: true });
      const found = tableField(this.#arrow, value);
      if (found) this.#known.set(id, { field: value, type: found.type });
      return;
    }
    for (const part of field.type.children ?? []) this.#find(part);
  }

  /** Applies a dictionary batch: a delta appends values, any other batch replaces them. */
  take({ dictionary: { id, data, isDelta }, body }: FoundDictionary): void {
    const known = this.#known.get(id);
    if (!known) return;
    const rows = data.length;
    if (!Number.isSafeInteger(rows) || rows < 0) throw damagedFile('a dictionary has an impossible length');
    const batch = new ArrowBatch(this.#arrow, { record: data, body }, { node: 0, buffer: 0 }, new Map());
    const cells = { ...batch.cells(known.field, known.type, rows), rows };
    const before = isDelta ? this.values.get(id) : undefined;
    this.values.set(id, before ? concatenateCells(before, cells) : cells);
  }
}

/** Returns the values of `a` followed by those of `b`. */
function concatenateCells(a: DictionaryValues, b: DictionaryValues): DictionaryValues {
  const rows = a.rows + b.rows;
  const isNull = (i: number): boolean => (i < a.rows ? a.isNull(i) : b.isNull(i - a.rows));
  const [texts, more] = [a.bytes, b.bytes];
  if (texts && more) {
    return { type: a.type, rows, isNull, bytes: (i) => (i < a.rows ? texts(i) : more(i - a.rows)) };
  }
  const width = fixedBytes(a.type) ?? 0;
  const memory = new Uint8Array(rows * width);
  for (const [values, begin] of [
    [a, 0],
    [b, a.rows],
  ] as const) {
    for (let i = 0; i < values.rows; i++) {
      const from = values.offset?.(i) ?? i * width;
      memory.set(values.memory?.subarray(from, from + width) ?? [], (begin + i) * width);
    }
  }
  return { type: a.type, rows, isNull, memory };
}
