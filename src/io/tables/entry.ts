/** An entry in memory: a key up to `valueAt`, and a value up to `end`. */
export interface Entry {
  readonly memory: Buffer;
  readonly keyAt: number;
  readonly valueAt: number;
  readonly end: number;
}

/** Takes entries in order. */
export interface EntrySink {
  /** @returns whether `flush` is to be waited for before the next one */
  put(entry: Entry): boolean;
  flush(): Promise<void>;
  /** Whether no more are wanted. */
  readonly isDone?: boolean;
}
