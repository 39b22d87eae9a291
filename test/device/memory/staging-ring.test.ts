import test from 'ava';
import { StagingRing } from '../../../src/device/memory/staging-ring.js';
import { Random } from '../../../src/util/random.js';

test('a staged copy keeps its bytes until the queue has passed it, whatever is staged meanwhile', (t) => {
  const stagingRing = new StagingRing(() => new ArrayBuffer(4096));
  const random = new Random(5);
  /** For each mark: checks of the copies before it. */
  const marks: { complete: (well: boolean) => void; checks: (() => void)[] }[] = [];
  let checks: (() => void)[] = [];
  let refused = 0;
  for (let i = 0; i < 2000; i++) {
    const bytes = random.bytes(1 + random.below(700));
    if (i % 2) {
      const copy = stagingRing.stageCopy(bytes);
      if (copy) checks.push(() => t.deepEqual(copy, bytes));
      else refused++;
    } else {
      const to = new Uint8Array(bytes.length + 2);
      const region = stagingRing.reserve(to.subarray(1, -1));
      region?.set(bytes);
      if (region) checks.push(() => t.deepEqual(to, Uint8Array.of(0, ...bytes, 0)));
      else refused++;
    }
    if (i % 3 === 0) {
      marks.push({ complete: stagingRing.mark(), checks });
      checks = [];
    }
    if (marks.length > random.below(5)) {
      const { complete, checks: due } = marks.shift() ?? { complete: () => undefined, checks: [] };
      complete(true);
      for (const check of due) check();
    }
  }
  t.true(refused > 10 && refused < 1500, String(refused));
});

test('a failed mark or a detached destination copies nothing and frees the staging memory', (t) => {
  const stagingRing = new StagingRing(() => new ArrayBuffer(1024));
  const to = new Uint8Array(512);
  stagingRing.reserve(to)?.fill(1);
  stagingRing.mark()(false);
  t.true(to.every((byte) => byte === 0));
  const detached = new Uint8Array(512);
  stagingRing.reserve(detached)?.fill(1);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  stagingRing.mark()(true);
  t.is(detached.length, 0);
  t.truthy(stagingRing.stageCopy(new Uint8Array(1024)));
  t.is(stagingRing.stageCopy(new Uint8Array(1)), undefined);
});

test('detached staging memory has no free space', (t) => {
  const memory = new ArrayBuffer(1024);
  const stagingRing = new StagingRing(() => memory);
  t.truthy(stagingRing.stageCopy(new Uint8Array(64)));
  structuredClone(memory, { transfer: [memory] });
  t.is(stagingRing.stageCopy(new Uint8Array(64)), undefined);
  t.is(stagingRing.reserve(new Uint8Array(64)), undefined);
});

test('marks that complete out of order free the whole ring', (t) => {
  const stagingRing = new StagingRing(() => new ArrayBuffer(1024));
  stagingRing.stageCopy(new Uint8Array(512));
  const early = stagingRing.mark();
  stagingRing.stageCopy(new Uint8Array(512));
  const late = stagingRing.mark();
  t.is(stagingRing.stageCopy(new Uint8Array(64)), undefined);
  late(true);
  early(true);
  t.truthy(stagingRing.stageCopy(new Uint8Array(1024)));
});
