import test from 'ava';
import { patchTransfer } from '../../src/opencl/array-buffer.js';
import { where } from '../where.js';

type Transfer = (newLength?: unknown) => ArrayBuffer;
const prototype = ArrayBuffer.prototype as unknown as Record<string, Transfer>;
const withTransfer = where('transfer' in prototype, 'this Node has no ArrayBuffer.transfer', test); // Node 20 has none

for (const name of ['transfer', 'transferToFixedLength']) {
  const method = (): Transfer => prototype[name] as Transfer;

  withTransfer(`the patched ${name} behaves like the native method`, (t) => {
    const before = Object.getOwnPropertyDescriptor(prototype, name);
    patchTransfer();
    const after = Object.getOwnPropertyDescriptor(prototype, name);
    t.deepEqual({ ...after, value: 0 }, { ...before, value: 0 });
    t.is(method().name, name);
    t.is(method().length, 0);
    t.false('prototype' in method());
    for (const [length, expected] of [
      [undefined, [1, 2, 3, 4]],
      [4, [1, 2, 3, 4]],
      [2.9, [1, 2]],
      ['6', [1, 2, 3, 4, 0, 0]],
      [0, []],
      [Number.NaN, []],
      [null, []],
    ] as const) {
      const from = Uint8Array.of(1, 2, 3, 4).buffer;
      const to = method().call(from, length);
      t.deepEqual([...new Uint8Array(to)], [...expected], String(length));
      t.is(from.byteLength, 0);
      t.throws(() => method().call(from, 8), { instanceOf: TypeError }, 'detached');
    }
    for (const wrong of [1n, Symbol('s')]) {
      t.throws(() => method().call(new ArrayBuffer(4), wrong), { instanceOf: TypeError });
    }
    for (const wrong of [-1, 2 ** 53, Number.POSITIVE_INFINITY]) {
      const from = new ArrayBuffer(4);
      t.throws(() => method().call(from, wrong), { instanceOf: RangeError });
      t.is(from.byteLength, 4);
    }
    for (const wrong of [undefined, {}, new Uint8Array(4), new SharedArrayBuffer(4)]) {
      t.throws(() => method().call(wrong, 2), { instanceOf: TypeError });
    }
  });

  withTransfer(`the patched ${name} leaves resizable buffers to V8`, (t) => {
    const Resizable = ArrayBuffer as unknown as new (n: number, o: { maxByteLength: number }) => ArrayBuffer;
    const moved = method().call(new Resizable(4, { maxByteLength: 16 }), 8);
    t.is(moved.byteLength, 8);
    t.is((moved as unknown as { resizable: boolean }).resizable, name === 'transfer');
  });
}
