/** Rows of a text as byte ranges, in arrays that grow. */
export abstract class RowRanges {
  /** Number of rows found by the last call. */
  rows = 0;
  /** Start, end and line number of each row. */
  begins = new Int32Array(1024);
  ends = new Int32Array(1024);
  lines = new Float64Array(1024);
  /** Index of the first value of each row, and the end of the last one. */
  firsts = new Int32Array(1025);

  /** Adds a row with the values [first, last). */
  protected addRow(begin: number, end: number, line: number, first: number, last: number): void {
    const row = this.rows++;
    if (row === this.begins.length) {
      this.begins = growArray(this.begins);
      this.ends = growArray(this.ends);
      this.lines = growArray(this.lines);
      this.firsts = growArray(this.firsts);
    }
    this.begins[row] = begin;
    this.ends[row] = end;
    this.lines[row] = line;
    this.firsts[row] = first;
    this.firsts[row + 1] = last;
  }
}

/** Returns a copy of twice the length. */
export function growArray<T extends Int32Array | Float64Array>(from: T): T {
  const to = new (from.constructor as new (length: number) => T)(2 * from.length);
  to.set(from);
  return to;
}
