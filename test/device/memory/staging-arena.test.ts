import test from 'ava';
import type { Device } from '../../../src/device/device.js';
import type { Buffer } from '../../../src/device/memory/buffer.js';
import {
  StagingArena,
  type StagingSlot,
  type TransferRange,
} from '../../../src/device/memory/staging-arena.js';
import { Timeline } from '../../../src/device/queue/timeline.js';
import { Random } from '../../../src/util/random.js';
import { forEachDevice } from '../../each-device.js';

/** Memory for the slots of each arena size. */
const BYTES = 2 ** 16;
/** The smallest arena size. */
const MIN_ARENA_BYTES = 4096;

/** A staging arena, and the number of allocations they made. */
function transfersOf(device: Device) {
  const timeline = new Timeline();
  const allocations = { times: 0 };
  const transfers = new StagingArena(timeline, () => {
    allocations.times++;
    return { host: new ArrayBuffer(BYTES), device: device.buffer(BYTES), beforeRelease: () => undefined };
  });
  return { progress: timeline, transfers, made: allocations };
}

/** The range of a slot in host memory. */
const rangeOf = ({ memory, size }: StagingSlot) => ({
  in: memory.buffer,
  begin: memory.byteOffset,
  size,
});

const bytesOf = (ranges: readonly TransferRange[]): number =>
  ranges.reduce((sum, { memory }) => sum + memory.length, 0);

forEachDevice((title, open) => {
  test.serial(
    title('adjacent slots of similar size are transferred together to their offsets in the buffer'),
    async (t) => {
      const device = await open();
      const { transfers, made: allocations } = transfersOf(device);
      t.is(allocations.times, 0);
      const slots = [300, 5000, 1, 4096, 8000].map((bytes, i) => {
        const slot = transfers.allocate(bytes) as StagingSlot;
        t.is(slot.memory.length, bytes);
        slot.memory.fill(i + 1);
        transfers.enqueueSlot(slot);
        return slot;
      });
      t.is(transfers.pendingBytes, 300 + 5000 + 1 + 4096 + 8000);
      const ranges = transfers.takePending();
      t.deepEqual(
        ranges.map(({ offset, memory }) => [offset, memory.length]),
        [
          [0, 3 * MIN_ARENA_BYTES],
          [0, 2 * MIN_ARENA_BYTES + 8000],
        ],
      );
      t.is(transfers.pendingBytes + transfers.takePending().length, 0);
      for (const { buffer, offset, memory } of ranges) device.queue.write(buffer, memory.slice(), offset);
      const arrived = slots.map(({ buffer, memory }) => {
        const to = new Uint8Array(memory.length);
        device.queue.read(buffer, to);
        return to;
      });
      await device.queue.finish();
      for (const [i, bytes] of arrived.entries()) t.true(bytes.every((byte) => byte === i + 1));
      t.is(allocations.times, 2);
      for (const slot of slots) slot.release();
      transfers.release();
      t.is(transfers.allocate(1), undefined);
    },
  );

  test.serial(title('a slot is not reused before the queue has passed its last use'), async (t) => {
    const { transfers, progress: timeline } = transfersOf(await open());
    const random = new Random(8);
    const inUse: { slot: StagingSlot; free: number | undefined }[] = [];
    const marks: { passed: () => void; at: number }[] = [];
    let [passedTo, refused, transferred] = [0, 0, 0];
    for (let i = 0; i < 3000; i++) {
      const slot = transfers.allocate(1 + random.below(9000));
      if (!slot) refused++;
      else {
        for (const other of inUse) {
          if (other.free !== undefined && other.free <= passedTo) continue;
          const [a, b] = [rangeOf(slot), rangeOf(other.slot)];
          const apart = a.in !== b.in || a.begin + a.size <= b.begin || b.begin + b.size <= a.begin;
          if (!apart) t.fail('two slots in one place');
        }
        transfers.enqueueSlot(slot);
        inUse.push({ slot, free: undefined });
      }
      if (i % 3 === 0) transferred += transfers.takePending().length;
      const released = inUse.filter(({ free }) => free === undefined)[random.below(4)];
      if (released) {
        released.slot.release();
        released.free = timeline.enqueued;
      }
      if (i % 2) marks.push({ passed: timeline.mark(), at: timeline.enqueued });
      if (marks.length > random.below(4)) {
        const { passed, at } = marks.shift() ?? { passed: () => undefined, at: 0 };
        passed();
        passedTo = Math.max(passedTo, at);
      }
      while ((inUse[0]?.free ?? passedTo + 1) <= passedTo) inUse.shift();
    }
    t.true(refused > 10 && refused < 2900 && transferred > 50, `${refused} refused, ${transferred} crossed`);
    transfers.release();
  });

  test.serial(title('the device ranges of slots never overlap'), async (t) => {
    const { transfers, progress: timeline } = transfersOf(await open());
    const random = new Random(9);
    const slotByBuffer = new Map<StagingSlot['buffer'], StagingSlot>();
    for (let round = 0; round < 300; round++) {
      const slots = Array.from({ length: random.below(9) }, () =>
        transfers.allocate(1 + random.below(40_000)),
      );
      for (const slot of slots) {
        if (!slot) continue;
        const known = slotByBuffer.get(slot.buffer);
        if (known) t.deepEqual(rangeOf(slot), rangeOf(known));
        slotByBuffer.set(slot.buffer, slot);
        slot.release();
      }
      timeline.mark()();
    }
    const ranges = [...slotByBuffer.values()].map(rangeOf);
    t.true(ranges.length > 10);
    for (const [i, a] of ranges.entries()) {
      for (const b of ranges.slice(i + 1)) {
        if (a.in === b.in && a.begin < b.begin + b.size && b.begin < a.begin + a.size) t.fail('they overlap');
      }
    }
    transfers.release();
  });

  test.serial(
    title('large transfers get no slot, and no transfer does if memory cannot be allocated'),
    async (t) => {
      const { transfers } = transfersOf(await open());
      t.is(transfers.allocate(0), undefined);
      t.is(transfers.allocate(2 ** 19 + 1), undefined);
      const slots = [transfers.allocate(BYTES / 2), transfers.allocate(BYTES / 2)];
      t.true(slots.every((slot) => slot !== undefined));
      t.is(transfers.allocate(BYTES / 2), undefined, 'full');
      t.not(transfers.allocate(1), undefined, 'small slots are separate');
      transfers.release();
      let asked = 0;
      const none = new StagingArena(new Timeline(), () => {
        asked++;
        throw new Error('no memory');
      });
      t.is(none.allocate(4), undefined);
      t.is(none.allocate(4), undefined);
      t.is(asked, 1);
      none.release();
    },
  );

  test.serial(
    title('slots that are not adjacent are transferred separately, in any order of use'),
    async (t) => {
      const { transfers } = transfersOf(await open());
      const [a, b, c] = [
        transfers.allocate(1),
        transfers.allocate(1),
        transfers.allocate(1),
      ] as StagingSlot[];
      for (const slot of [c, a]) if (slot) transfers.enqueueSlot(slot);
      const ranges = transfers.takePending();
      t.deepEqual(
        ranges.map(({ offset }) => offset),
        [0, 2 * MIN_ARENA_BYTES],
      );
      t.is(bytesOf(ranges), 2);
      for (const slot of [a, b, c]) slot?.release();
      transfers.release();
    },
  );
});

/** An arena without device memory, whose slots of 4 KiB are on the host. */
function hostArena(slots: number) {
  const timeline = new Timeline();
  const host = new ArrayBuffer(slots * MIN_ARENA_BYTES);
  const arena = new StagingArena(timeline, () => ({
    host,
    device: { release: () => undefined } as Buffer,
    beforeRelease: () => undefined,
  }));
  return { timeline, host, arena };
}

test('a copy on the host keeps its bytes until the queue has passed its release', (t) => {
  const { timeline, arena } = hostArena(8);
  const random = new Random(5);
  const pending: { readonly passed: () => void; readonly checks: (() => void)[] }[] = [];
  let checks: (() => void)[] = [];
  let refused = 0;
  for (let i = 0; i < 2000; i++) {
    const bytes = random.bytes(1 + random.below(700));
    const slot = arena.copyOnHost(bytes);
    timeline.enqueue();
    slot?.release();
    if (slot) checks.push(() => t.deepEqual(slot.memory, bytes));
    else refused++;
    if (i % 3 === 0) {
      pending.push({ passed: timeline.mark(), checks });
      checks = [];
    }
    if (pending.length > random.below(5)) {
      const due = pending.shift();
      for (const check of due?.checks ?? []) check();
      due?.passed();
    }
  }
  t.true(refused > 10 && refused < 1500, String(refused));
});

test('staging memory of an abandoned device has no free slot', (t) => {
  const { host, arena } = hostArena(2);
  t.truthy(arena.copyOnHost(new Uint8Array(64)));
  structuredClone(host, { transfer: [host] });
  t.is(arena.copyOnHost(new Uint8Array(64)), undefined);
  t.is(arena.allocateHost(64), undefined);
});

test('a slot without device memory is free again', (t) => {
  const { arena } = hostArena(1);
  t.is(arena.allocate(4), undefined, 'the driver cannot create a part of this memory');
  t.truthy(arena.allocateHost(4));
});
