/** Explains row sort bit by bit: votes, positions and codes, as traced by the kernel. */
import { createRowSort, ROW_MAX } from '../algorithms/row-sort.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import type { Vote } from '../device/platform/capabilities.js';
import { decode } from '../keys/key-codec.js';
import { UnsupportedError } from '../util/errors.js';
import { costOf, firstOf, sideBySide } from './cost.js';
import { agree, line, type Step } from './explanation.js';
import { fromBytes, toBytes } from './keys.js';
import { afterMove, binary, type Subject, startOf, texts } from './record.js';
import { splitModel } from './split-model.js';
import type { View } from './view.js';

/** Work-items per row. */
const LANES = 32;

const NOTES: Readonly<Record<string, string>> = {
  masks:
    'Every work-item with a zero sets its bit of the mask by an atomic; a count of the bits below tells its place.',
  khr: 'One ballot of each sub-group makes the mask of zeros; a count of the bits below tells each key its place.',
  ptx: 'One vote of the warp makes the mask of zeros; a count of the bits below tells each key its place.',
};

/**
 * Checks that the device supports the votes.
 *
 * @throws UnsupportedError when it does not
 */
function assertVotes({ capabilities, info }: Device, vote: string): void {
  if (capabilities.votes.has(vote as Vote)) return;
  const lacks = vote === 'khr' ? 'ballots of sub-groups (cl_khr_subgroup_ballot)' : 'votes of PTX';
  throw new UnsupportedError(
    `cannot use --step ${vote} on ${info.name}: the device has no ${lacks}. Use --step masks`,
  );
}

interface Traced {
  readonly masks: bigint[];
  readonly places: number[];
  readonly codes: bigint[];
  readonly sorted: bigint[];
  readonly seconds: number | null;
}

/** Sorts the row twice: with a trace, and without one for its time. */
async function trace(
  device: Device,
  { patterns, info, codec, bits }: Subject,
  vote: string,
): Promise<Traced> {
  const n = patterns.length;
  const shape = { keyBits: info.width, valueBytes: 0 };
  const sort = await createRowSort(device, { ...shape, tuning: { trace: true, vote } });
  const plain = await createRowSort(device, { ...shape, tuning: { vote } });
  const steps = bits[1] - bits[0];
  const { queue } = device;
  const from = device.buffer(n * info.bytes);
  const to = device.buffer(n * info.bytes);
  const sizes = [steps * 2 * 4, steps * ROW_MAX * 4, steps * ROW_MAX * info.bytes] as const;
  const bufferOf = (bytes: number): Buffer => device.buffer(Math.max(bytes, 4));
  const [masks, places, codes] = [bufferOf(sizes[0]), bufferOf(sizes[1]), bufferOf(sizes[2])];
  const [maskBytes, placeBytes, codeBytes] = sizes.map((bytes) => new Uint8Array(bytes));
  const sortedBytes = new Uint8Array(n * info.bytes);
  try {
    queue.write(from, toBytes(patterns, info.bytes));
    const work = { from, to, n, rowLength: n, codec, bits };
    sort.enqueueRows(queue, { ...work, trace: { masks, places, codes } });
    queue.read(masks, maskBytes as Uint8Array);
    queue.read(places, placeBytes as Uint8Array);
    queue.read(codes, codeBytes as Uint8Array);
    await queue.finish();
    queue.startProfile();
    plain.enqueueRows(queue, work);
    queue.read(to, sortedBytes);
    await queue.finish();
    const [stage] = queue.endProfile();
    return {
      masks: fromBytes(maskBytes as Uint8Array, 8),
      places: fromBytes(placeBytes as Uint8Array, 4).map(Number),
      codes: fromBytes(codeBytes as Uint8Array, info.bytes),
      sorted: fromBytes(sortedBytes, info.bytes),
      seconds: stage?.seconds ?? null,
    };
  } finally {
    for (const buffer of [from, to, masks, places, codes]) buffer.release();
  }
}

export const explainRow: View = async (device, subject, { step: vote = 'masks' }) => {
  const { patterns, info, codec, bits } = subject;
  const n = patterns.length;
  if (n > ROW_MAX)
    throw new UnsupportedError(`cannot sort ${n} keys as one row: a row has at most ${ROW_MAX} keys`);
  assertVotes(device, vote);
  const traced = await trace(device, subject, vote);
  const pad = (1n << BigInt(info.width)) - 1n;
  let before = [...startOf(subject).codes, ...new Array<bigint>(ROW_MAX - n).fill(pad)];
  const steps = Array.from({ length: bits[1] - bits[0] }, (_, number): Step => {
    const bit = bits[0] + number;
    const digits = before.map((code) => Number((code >> BigInt(bit)) & 1n));
    const model = splitModel(digits, 2);
    const zeros = digits.reduce((mask, digit, i) => (digit === 0 ? mask | (1n << BigInt(i)) : mask), 0n);
    const row = <T>(array: readonly T[]) => array.slice(number * ROW_MAX, (number + 1) * ROW_MAX);
    const [mask = 0n] = agree('mask of zeros', traced.masks.slice(number, number + 1), [zeros]);
    const newIndex = agree('new index', row(traced.places), model.places).slice(0, n);
    const after = agree('codes', row(traced.codes), afterMove(before, model.places));
    const keysBefore = texts(before.slice(0, n), subject);
    const keysAfter = texts(after.slice(0, n), subject);
    const votes = digits.slice(0, n).map((_, i) => String((mask >> BigInt(i)) & 1n));
    const lines = [
      line('keys', keysBefore),
      line(
        'binary',
        before.slice(0, n).map((code) => binary(code, bits)),
      ),
      line('zero bit', votes),
      line('mask', [`0x${mask.toString(16).padStart(ROW_MAX / 4, '0')}`]),
      line(
        'zeros before',
        votes.map((_, i) => digits.slice(0, i).filter((digit) => digit === 0).length),
      ),
      line('new index', newIndex),
      line('moved', keysAfter),
    ];
    const first = model.places.slice(0, LANES);
    const cost = costOf({
      active: firstOf(Math.min(n, LANES), LANES),
      local: { accesses: [sideBySide(LANES), first], bytes: info.bytes },
      global: number === 0 ? [{ access: sideBySide(n), bytes: info.bytes }] : [],
      kernelSeconds: number === bits[1] - bits[0] - 1 ? traced.seconds : null,
    });
    before = [...after];
    return {
      ...{ title: `bit ${bit}`, note: NOTES[vote] ?? '', kernels: ['row_sort'], lines },
      ...{ before: keysBefore, after: keysAfter, newIndex, cost },
      source: {
        file: 'row_sort.cl',
        name: 'row_sort',
        containing: ['atomic_or', 'ballot', 'count_ones', 'place'],
      },
    };
  });
  const expected = before.slice(0, n).map((code) => decode(codec, code));
  agree('sorted keys', traced.sorted, expected);
  return { steps, result: texts(before.slice(0, n), subject) };
};
