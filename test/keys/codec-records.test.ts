import test from 'ava';
import { bytesOf, keyWords } from '../../src/keys/array.js';
import { codeWordsOf, decodeRecords, encodeRecords } from '../../src/keys/codec-records.js';
import { DTYPES, dtypeInfo } from '../../src/keys/dtype.js';
import { encode, keyCodec } from '../../src/keys/key-codec.js';
import { keysOf } from '../distributions.js';
import { patterns } from '../reference.js';

for (const dtype of DTYPES) {
  test(`number codes of ${dtype} equal those of the BigInt codec and decode to the keys`, (t) => {
    const info = dtypeInfo(dtype);
    const stride = codeWordsOf(info) + 1;
    for (const descending of [false, true]) {
      for (const nan of ['first', 'last'] as const) {
        const codec = keyCodec(dtype, { descending, nan });
        for (const distribution of ['special', 'uniform'] as const) {
          const bytes = bytesOf(keysOf(dtype, distribution, 2000));
          const records = new Uint32Array(2000 * stride);
          encodeRecords(keyWords(bytes, info), records, stride, codec);
          const codes = Array.from({ length: 2000 }, (_, i) => {
            const [low = 0, high = 0] = records.subarray(i * stride, (i + 1) * stride - 1);
            return (BigInt(high) << 32n) | BigInt(low);
          });
          t.deepEqual(
            codes,
            patterns(bytes, dtype).map((key) => encode(codec, key)),
          );
          const back = new Uint8Array(bytes.length);
          decodeRecords(records, stride, keyWords(back, info), codec);
          t.deepEqual(back, bytes);
        }
      }
    }
  });
}
