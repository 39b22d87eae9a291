/** Launch lists without a driver: which arguments are set, and their bytes. */
import test from 'ava';
import type { Buffer } from '../../../src/device/memory/buffer.js';
import { Buffer as DeviceBuffer } from '../../../src/device/memory/buffer.js';
import type { Kernel } from '../../../src/device/programs/program.js';
import {
  f32,
  f64,
  i32,
  i64,
  LaunchList,
  local,
  u32,
  u64,
  vector,
} from '../../../src/device/queue/launch-list.js';

const kernelOf = (): Kernel => ({ handle: {}, bound: [] }) as unknown as Kernel;
const bufferOf = (): Buffer => new DeviceBuffer(4, {} as never);

/** Arguments of the only launch of a list: their numbers and values. */
function argumentsOf(list: LaunchList): { index: number; bytes: number[] }[] {
  const { words, count, bytes } = list.take();
  const dimensions = words[1] ?? 0;
  let at = 3 + dimensions * (words[2] ? 2 : 1);
  const set = [];
  for (let left = words[at++] ?? 0; left > 0; left--) {
    const [index = 0, kind, place = 0, length = 0] = words.slice(at, at + 4);
    at += 4;
    set.push({ index, bytes: kind === 1 ? [...bytes.slice(place, place + length)] : [] });
  }
  if (at !== count) throw new Error(`${count} words, of which ${at} have a meaning`);
  return set;
}

test('numeric arguments are set to all bytes of their type', (t) => {
  const kernel = kernelOf();
  const list = new LaunchList();
  const big = 2 ** 33 + 5;
  const args = [u32(0xfedcba98), i32(-2), u64(big), u64(0xfedcba9876543210n), i64(-3), f32(1.5), f64(-0.1)];
  list.add(kernel, args, [1], null);
  const expected = (bytes: ArrayBufferView) => [...new Uint8Array(bytes.buffer)];
  t.deepEqual(
    argumentsOf(list).map(({ bytes }) => bytes),
    [
      expected(Uint32Array.of(0xfedcba98)),
      expected(Int32Array.of(-2)),
      expected(BigUint64Array.of(BigInt(big))),
      expected(BigUint64Array.of(0xfedcba9876543210n)),
      expected(BigInt64Array.of(-3n)),
      expected(Float32Array.of(1.5)),
      expected(Float64Array.of(-0.1)),
    ],
  );
});

test('an argument is set again only when its buffer, value or type changes', (t) => {
  const kernel = kernelOf();
  const list = new LaunchList();
  const [a, b] = [bufferOf(), bufferOf()];
  const changed = (...args: Parameters<LaunchList['add']>[1]) => {
    list.add(kernel, args, [1], [1]);
    return argumentsOf(list).map(({ index }) => index);
  };
  const codec = Uint32Array.of(1, 2, 3);
  t.deepEqual(changed(a, u32(1), local(64), vector(codec)), [0, 1, 2, 3]);
  t.deepEqual(changed(a, u32(1), local(64), vector(codec)), []);
  t.deepEqual(changed(b, u32(1), local(64), vector(codec)), [0], 'another buffer');
  t.deepEqual(changed(b, u32(2), local(64), vector(codec)), [1], 'another number');
  t.deepEqual(changed(b, i32(2), local(64), vector(codec)), [1], 'the same number of another type');
  t.deepEqual(changed(b, i32(2), local(65), vector(codec)), [2]);
  t.deepEqual(changed(b, i32(2), local(65), vector(Uint32Array.of(1, 2, 4))), [3]);
  t.deepEqual(changed(b, i32(2), local(65), vector(Uint32Array.of(1, 2))), [3], 'a shorter vector');
});

test('all arguments are set again after a failed launch', (t) => {
  const kernel = kernelOf();
  const list = new LaunchList();
  list.add(kernel, [u32(7)], [4], [2]);
  list.take().forget();
  list.add(kernel, [u32(7)], [4], [2]);
  t.is(argumentsOf(list).length, 1);
});
