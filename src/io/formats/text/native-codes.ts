import { type Dtype, dtypeInfo } from '../../../keys/dtype.js';
import { codecWords, keyCodec } from '../../../keys/key-codec.js';
import type { KeyColumn } from '../../../native-host/table-functions.js';
import { type TableFunctions, tableFunctions } from '../../../sort/host/native-tables.js';
import { packedStrings, type SizedStrings } from '../subprocess/tables/row-batches.js';
import type { NumberScanner } from './number-style.js';
import type { TextReadOptions } from './text-options.js';
import type { TextKey } from './text-plan.js';
import { markMissing, type TextChunk } from './text-table.js';

const ALL_BITS = 2n ** 64n - 1n;
const NO_CODEC = new BigUint64Array(7);

/** Returns the codes of some keys from the addon; undefined if JavaScript has to read them. */
export function nativeCodes(
  chunk: TextChunk,
  keys: readonly TextKey[],
  { na }: TextReadOptions,
  scanner: NumberScanner,
): SizedStrings | undefined {
  const native = tableFunctions();
  if (!native) return undefined;
  const columns: KeyColumn[] = [];
  for (const key of keys) {
    const order = orderOf(key, native);
    if (!order || (key.type.is !== 'text' && !scanner.isDefault)) return undefined;
    columns.push({ ...order, ranges: markMissing(chunk.values(key.index), na) });
  }
  const codes = native.keyBytes(chunk.bytes, chunk.rows, columns);
  return codes && packedStrings(codes);
}

/** Returns the order of a key; undefined for types that JavaScript reads. */
function orderOf(key: TextKey, { KEY_KIND: kind }: TableFunctions): Omit<KeyColumn, 'ranges'> | undefined {
  const { descending, nulls, nan, type } = key;
  const order = {
    descending,
    nullsFirst: nulls === 'first',
    nanLast: (nan === 'last') !== descending,
    ...{ width: 0, codec: NO_CODEC },
  };
  switch (type.is) {
    case 'text':
      return { ...order, kind: kind.text };
    case 'number':
      return { ...order, kind: kind.number };
    case 'bool':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'json':
    case 'i128':
    case 'f16':
    case 'bf16':
      return undefined;
    default: {
      const dtype: Dtype = type.is;
      const info = dtypeInfo(dtype);
      const codec = codecWords(keyCodec(dtype, { descending, nan }), ALL_BITS);
      return { ...order, kind: kind[info.kind], width: info.bytes, codec };
    }
  }
}
