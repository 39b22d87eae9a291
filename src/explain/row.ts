/** Row sort, bit by bit: masks, places and codes as the kernel traced them. */
import { createRowSort, ROW_MAX } from '../algorithms/row-sort.js';
import type { Device } from '../device/device.js';
import { decode } from '../keys/key-codec.js';
import { UnsupportedError } from '../util/errors.js';
import { agree, line, type Step } from './explanation.js';
import { fromBytes, toBytes } from './keys.js';
import { splitPassModel } from './radix.js';
import { binary, moved, type Subject, startOf, texts } from './record.js';

export async function explainRow(device: Device, subject: Subject): Promise<Step[]> {
  const { patterns, info, codec, bits } = subject;
  const n = patterns.length;
  if (n > ROW_MAX) throw new UnsupportedError(`row sorts one row of at most ${ROW_MAX} keys, not ${n}`);
  const sort = await createRowSort(device, { keyBits: info.width, valueBytes: 0, tuning: { trace: true } });
  const steps = bits[1] - bits[0];
  const { queue } = device;
  const from = device.buffer(n * info.bytes);
  const to = device.buffer(n * info.bytes);
  const masks = device.buffer(steps * 2 * 4);
  const places = device.buffer(steps * ROW_MAX * 4);
  const codes = device.buffer(steps * ROW_MAX * info.bytes);
  const maskBytes = new Uint8Array(steps * 2 * 4);
  const placeBytes = new Uint8Array(steps * ROW_MAX * 4);
  const codeBytes = new Uint8Array(steps * ROW_MAX * info.bytes);
  const sortedBytes = new Uint8Array(n * info.bytes);
  try {
    queue.write(from, toBytes(patterns, info.bytes));
    sort.enqueueRows(queue, { from, to, n, rowLength: n, codec, bits, trace: { masks, places, codes } });
    queue.read(masks, maskBytes);
    queue.read(places, placeBytes);
    queue.read(codes, codeBytes);
    queue.read(to, sortedBytes);
    await queue.finish();
  } finally {
    for (const buffer of [from, to, masks, places, codes]) buffer.release();
  }
  const traced = {
    masks: fromBytes(maskBytes, 8),
    places: fromBytes(placeBytes, 4).map(Number),
    codes: fromBytes(codeBytes, info.bytes),
  };
  const pad = (1n << BigInt(info.width)) - 1n;
  let before = [...startOf(subject).codes, ...new Array<bigint>(ROW_MAX - n).fill(pad)];
  const explained = Array.from({ length: steps }, (_, step): Step => {
    const bit = bits[0] + step;
    const digits = before.map((code) => Number((code >> BigInt(bit)) & 1n));
    const model = splitPassModel(digits, 2);
    const zeros = digits.reduce((mask, digit, i) => (digit === 0 ? mask | (1n << BigInt(i)) : mask), 0n);
    const row = <T>(array: readonly T[]) => array.slice(step * ROW_MAX, (step + 1) * ROW_MAX);
    const [mask = 0n] = agree('mask of zeros', traced.masks.slice(step, step + 1), [zeros]);
    const newIndex = agree('new index', row(traced.places), model.places).slice(0, n);
    const after = agree('codes', row(traced.codes), moved(before, model.places));
    const keysBefore = texts(before.slice(0, n), subject);
    const keysAfter = texts(after.slice(0, n), subject);
    const lines = [
      line('keys', keysBefore),
      line(
        'binary',
        before.slice(0, n).map((code) => binary(code, bits)),
      ),
      line(
        'zero bit',
        digits.slice(0, n).map((_, i) => String((mask >> BigInt(i)) & 1n)),
      ),
      line('mask', [`0x${mask.toString(16).padStart(ROW_MAX / 4, '0')}`]),
      line('new index', newIndex),
      line('moved', keysAfter),
    ];
    before = [...after];
    return {
      title: `bit ${bit}`,
      kernels: ['row_sort'],
      lines,
      before: keysBefore,
      after: keysAfter,
      newIndex,
    };
  });
  agree(
    'sorted keys',
    fromBytes(sortedBytes, info.bytes),
    before.slice(0, n).map((code) => decode(codec, code)),
  );
  return explained;
}
