/** An entry in memory: the key ends at `valueAt`, the value at `end`. */
export interface Entry {
  readonly memory: Buffer;
  readonly keyAt: number;
  readonly valueAt: number;
  readonly end: number;
}

/** Consumes entries in order. */
export interface EntrySink {
  /** @returns whether the caller must await `flush` before the next entry */
  put(entry: Entry): boolean;
  flush(): Promise<void>;
  /** Whether the sink needs no more entries. */
  readonly isDone?: boolean;
}
