import { Message, Schema } from 'apache-arrow';
import test from 'ava';
import { isBigEndian, SCHEMA_FIELD } from '../../../../src/io/formats/subprocess/arrow-endianness.js';

test('a schema without an endianness field is little-endian, as in apache-arrow', (t) => {
  t.false(isBigEndian(Message.encode(Message.from(new Schema([]))), SCHEMA_FIELD.message));
});

test('a schema with a big-endian field is big-endian', (t) => {
  for (const [value, isBig] of [
    [1, true],
    [0, false],
  ] as const) {
    // A root table at 14 with its vtable at 4: the third field is at offset 4. It is a schema at 30 with its vtable at 22.
    const bytes = new DataView(new ArrayBuffer(40));
    bytes.setUint32(0, 14, true);
    for (const [i, word] of [10, 8, 0, 0, 4].entries()) bytes.setUint16(4 + 2 * i, word, true);
    bytes.setInt32(14, 10, true); // back to 4
    bytes.setUint32(18, 12, true); // on to 30
    for (const [i, word] of [6, 6, 4].entries()) bytes.setUint16(22 + 2 * i, word, true);
    bytes.setInt32(30, 8, true); // back to 22
    bytes.setInt16(34, value, true);
    t.is(isBigEndian(new Uint8Array(bytes.buffer), SCHEMA_FIELD.message), isBig);
  }
});

test('an offset out of range is an error', (t) => {
  t.throws(() => isBigEndian(new Uint8Array(40).fill(0x7f), SCHEMA_FIELD.message), {
    instanceOf: RangeError,
  });
});
