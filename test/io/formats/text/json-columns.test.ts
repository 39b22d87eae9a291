import test from 'ava';
import { JsonColumns } from '../../../../src/io/formats/text/json-lines.js';

test('names of columns keep their bytes when the memory that they were read from is reused', (t) => {
  const columns = new JsonColumns();
  const memory = Buffer.from('"name"');
  t.is(columns.placeOf(memory.subarray()), 0);
  memory.fill(0x20);
  t.is(Buffer.from(columns.raw[0] as Uint8Array).toString(), '"name"');
});
