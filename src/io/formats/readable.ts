/** The formats that clsort reads and writes. Heavy dependencies of a format are loaded on first use. */
import { arrow, arrows } from './arrow.js';
import { csv, tsv } from './csv.js';
import type { KeyFormat } from './key-file.js';
import { lines } from './lines.js';
import { ndjson } from './ndjson.js';
import { npy } from './npy.js';
import { parquet } from './parquet.js';
import { raw } from './raw.js';

export const READABLE: readonly KeyFormat[] = [raw, npy, arrow, arrows, parquet, csv, tsv, ndjson, lines];
