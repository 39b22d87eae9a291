import test from 'ava';
import { Tray } from '../../src/device/tray.js';
import { Random } from '../../src/util/random.js';

test('a staged copy keeps its bytes until the queue has passed it, whatever is staged meanwhile', (t) => {
  const tray = new Tray(() => new ArrayBuffer(4096));
  const random = new Random(5);
  /** For each mark: checks of the copies made before it. */
  const marks: { landed: (well: boolean) => void; checks: (() => void)[] }[] = [];
  let checks: (() => void)[] = [];
  let refused = 0;
  for (let i = 0; i < 2000; i++) {
    const bytes = random.bytes(1 + random.below(700));
    if (i % 2) {
      const copy = tray.copyOf(bytes);
      if (copy) checks.push(() => t.deepEqual(copy, bytes));
      else refused++;
    } else {
      const to = new Uint8Array(bytes.length + 2);
      const place = tray.placeFor(to.subarray(1, -1));
      place?.set(bytes);
      if (place) checks.push(() => t.deepEqual(to, Uint8Array.of(0, ...bytes, 0)));
      else refused++;
    }
    if (i % 3 === 0) {
      marks.push({ landed: tray.mark(), checks });
      checks = [];
    }
    if (marks.length > random.below(5)) {
      const { landed, checks: due } = marks.shift() ?? { landed: () => undefined, checks: [] };
      landed(true);
      for (const check of due) check();
    }
  }
  t.true(refused > 10 && refused < 1500, String(refused));
});

test('a failed mark or a detached destination copies nothing and frees the staging memory', (t) => {
  const tray = new Tray(() => new ArrayBuffer(1024));
  const to = new Uint8Array(512);
  tray.placeFor(to)?.fill(1);
  tray.mark()(false);
  t.true(to.every((byte) => byte === 0));
  const gone = new Uint8Array(512);
  tray.placeFor(gone)?.fill(1);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  tray.mark()(true);
  t.is(gone.length, 0);
  t.truthy(tray.copyOf(new Uint8Array(1024)));
  t.is(tray.copyOf(new Uint8Array(1)), undefined);
});

test('detached staging memory has no free space', (t) => {
  const memory = new ArrayBuffer(1024);
  const tray = new Tray(() => memory);
  t.truthy(tray.copyOf(new Uint8Array(64)));
  structuredClone(memory, { transfer: [memory] });
  t.is(tray.copyOf(new Uint8Array(64)), undefined);
  t.is(tray.placeFor(new Uint8Array(64)), undefined);
});

test('marks that complete out of order free the whole ring', (t) => {
  const tray = new Tray(() => new ArrayBuffer(1024));
  tray.copyOf(new Uint8Array(512));
  const early = tray.mark();
  tray.copyOf(new Uint8Array(512));
  const late = tray.mark();
  t.is(tray.copyOf(new Uint8Array(64)), undefined);
  late(true);
  early(true);
  t.truthy(tray.copyOf(new Uint8Array(1024)));
});
