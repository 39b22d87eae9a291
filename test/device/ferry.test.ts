import test from 'ava';
import type { Device } from '../../src/device/device.js';
import { Ferry, type Stretch } from '../../src/device/ferry.js';
import { Progress } from '../../src/device/progress.js';
import type { Berth } from '../../src/device/quay.js';
import { Random } from '../../src/util/random.js';
import { forEachDevice } from '../each-device.js';

/** Memory for berths of each room. */
const BYTES = 2 ** 16;
/** The smallest room. */
const ROOM = 4096;

/** A ferry, and how often memory was made for it. */
function ferryOf(device: Device) {
  const progress = new Progress();
  const made = { times: 0 };
  const ferry = new Ferry(progress, () => {
    made.times++;
    return { host: new ArrayBuffer(BYTES), device: device.buffer(BYTES), beforeRelease: () => undefined };
  });
  return { progress, ferry, made };
}

/** The range of a slot in host memory. */
const placeOf = ({ memory, room }: Berth) => ({ in: memory.buffer, begin: memory.byteOffset, room });

const bytesOf = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, { memory }) => sum + memory.length, 0);

forEachDevice((title, open) => {
  test.serial(
    title('adjacent slots of similar size are transferred together to their offsets in the buffer'),
    async (t) => {
      const device = await open();
      const { ferry, made } = ferryOf(device);
      t.is(made.times, 0);
      const sent = [300, 5000, 1, 4096, 8000].map((bytes, i) => {
        const berth = ferry.take(bytes) as Berth;
        t.is(berth.memory.length, bytes);
        berth.memory.fill(i + 1);
        ferry.board(berth);
        return berth;
      });
      t.is(ferry.waitingBytes, 300 + 5000 + 1 + 4096 + 8000);
      const stretches = ferry.depart();
      t.deepEqual(
        stretches.map(({ offset, memory }) => [offset, memory.length]),
        [
          [0, 3 * ROOM],
          [0, 2 * ROOM + 8000],
        ],
      );
      t.is(ferry.waitingBytes + ferry.depart().length, 0);
      for (const { buffer, offset, memory } of stretches) device.queue.write(buffer, memory.slice(), offset);
      const arrived = sent.map(({ buffer, memory }) => {
        const to = new Uint8Array(memory.length);
        device.queue.read(buffer, to);
        return to;
      });
      await device.queue.finish();
      for (const [i, bytes] of arrived.entries()) t.true(bytes.every((byte) => byte === i + 1));
      t.is(made.times, 2);
      for (const berth of sent) berth.release();
      ferry.release();
      t.is(ferry.take(1), undefined);
    },
  );

  test.serial(title('a slot is not reused before the queue has passed its last use'), async (t) => {
    const { ferry, progress } = ferryOf(await open());
    const random = new Random(8);
    const inUse: { berth: Berth; free: number | undefined }[] = [];
    const marks: { passed: () => void; at: number }[] = [];
    let [passedTo, refused, crossed] = [0, 0, 0];
    for (let i = 0; i < 3000; i++) {
      const berth = ferry.take(1 + random.below(9000));
      if (!berth) refused++;
      else {
        for (const other of inUse) {
          if (other.free !== undefined && other.free <= passedTo) continue;
          const [a, b] = [placeOf(berth), placeOf(other.berth)];
          const apart = a.in !== b.in || a.begin + a.room <= b.begin || b.begin + b.room <= a.begin;
          if (!apart) t.fail('two berths in one place');
        }
        ferry.board(berth);
        inUse.push({ berth, free: undefined });
      }
      if (i % 3 === 0) crossed += ferry.depart().length;
      const leaving = inUse.filter(({ free }) => free === undefined)[random.below(4)];
      if (leaving) {
        leaving.berth.release();
        leaving.free = progress.enqueued;
      }
      if (i % 2) marks.push({ passed: progress.mark(), at: progress.enqueued });
      if (marks.length > random.below(4)) {
        const { passed, at } = marks.shift() ?? { passed: () => undefined, at: 0 };
        passed();
        passedTo = Math.max(passedTo, at);
      }
      while ((inUse[0]?.free ?? passedTo + 1) <= passedTo) inUse.shift();
    }
    t.true(refused > 10 && refused < 2900 && crossed > 50, `${refused} refused, ${crossed} crossed`);
    ferry.release();
  });

  test.serial(title('the device ranges of slots never overlap'), async (t) => {
    const { ferry, progress } = ferryOf(await open());
    const random = new Random(9);
    const parts = new Map<Berth['buffer'], Berth>();
    for (let round = 0; round < 300; round++) {
      const berths = Array.from({ length: random.below(9) }, () => ferry.take(1 + random.below(40_000)));
      for (const berth of berths) {
        if (!berth) continue;
        const known = parts.get(berth.buffer);
        if (known) t.deepEqual(placeOf(berth), placeOf(known));
        parts.set(berth.buffer, berth);
        berth.release();
      }
      progress.mark()();
    }
    const places = [...parts.values()].map(placeOf);
    t.true(places.length > 10);
    for (const [i, a] of places.entries()) {
      for (const b of places.slice(i + 1)) {
        if (a.in === b.in && a.begin < b.begin + b.room && b.begin < a.begin + a.room) t.fail('they overlap');
      }
    }
    ferry.release();
  });

  test.serial(
    title('large transfers get no slot, and no transfer does if memory cannot be allocated'),
    async (t) => {
      const { ferry } = ferryOf(await open());
      t.is(ferry.take(0), undefined);
      t.is(ferry.take(2 ** 19 + 1), undefined);
      const berths = [ferry.take(BYTES / 2), ferry.take(BYTES / 2)];
      t.true(berths.every((berth) => berth !== undefined));
      t.is(ferry.take(BYTES / 2), undefined, 'full');
      t.not(ferry.take(1), undefined, 'small slots are separate');
      ferry.release();
      let asked = 0;
      const none = new Ferry(new Progress(), () => {
        asked++;
        throw new Error('no memory');
      });
      t.is(none.take(4), undefined);
      t.is(none.take(4), undefined);
      t.is(asked, 1);
      none.release();
    },
  );

  test.serial(
    title('slots that are not adjacent are transferred separately, in any order of use'),
    async (t) => {
      const { ferry } = ferryOf(await open());
      const [a, b, c] = [ferry.take(1), ferry.take(1), ferry.take(1)] as Berth[];
      for (const berth of [c, a]) if (berth) ferry.board(berth);
      const stretches = ferry.depart();
      t.deepEqual(
        stretches.map(({ offset }) => offset),
        [0, 2 * ROOM],
      );
      t.is(bytesOf(stretches), 2);
      for (const berth of [a, b, c]) berth?.release();
      ferry.release();
    },
  );
});
