/** Self-tests of variants that work, of variants that do not, and on devices that fail meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Algorithm, SortWork } from '../../../src/algorithms/algorithm.js';
import { algorithmNamed } from '../../../src/algorithms/registry.js';
import type { Device } from '../../../src/device/device.js';
import type { Queue } from '../../../src/device/queue/queue.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { selfTest, stressTest } from '../../../src/sort/verification/self-test.js';
import { CaseData } from '../../../src/sort/verification/self-test-cases.js';
import { type ClsortError, DeviceLostError, MemoryError } from '../../../src/util/errors.js';
import { forEachOpened, testIf } from '../../each-device.js';
import { selfTestsIn } from '../../self-tests.js';

const folder = mkdtempSync(join(tmpdir(), 'clsort-self-test-'));
process.env.CLSORT_CACHE_DIR = folder;
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const written = (): string => JSON.stringify(selfTestsIn(folder));

type Enqueue = Algorithm['enqueue'];

const SHAPE = { keyBits: 32, valueBytes: 0 } as const;
const ONESWEEP = algorithmNamed('onesweep');

/** An algorithm whose sorts go through `enqueue`; `tag` distinguishes its self-test records. */
async function altered(
  device: Device,
  tag: string,
  enqueue: (real: Enqueue, queue: Queue, work: SortWork, sorts: number) => ReturnType<Enqueue>,
  name = 'tiled',
): Promise<Algorithm> {
  const real = await algorithmNamed(name).create(device, SHAPE);
  let sorts = 0;
  return {
    name,
    device,
    shape: { ...SHAPE, tuning: { tag } },
    supports: (request) => real.supports(request),
    scratch: (n, options) => real.scratch(n, options),
    enqueue: (queue, work) => enqueue((...args) => real.enqueue(...args), queue, work, ++sorts),
  };
}

test.serial('an unusable cache causes one warning, and the sort works', async (t) => {
  process.env.CLSORT_CACHE_DIR = '/dev/null';
  const warnings: ClsortError[] = [];
  const sorter = await Sorter.open({ device: 'cpu', onWarning: (warning) => warnings.push(warning) });
  try {
    for (let i = 0; i < 3; i++)
      t.deepEqual(await sorter.sort(Uint32Array.of(3, 1, 2)), Uint32Array.of(1, 2, 3));
    t.deepEqual(
      warnings.map(({ code }) => code),
      ['ERR_CLSORT_CACHE'],
    );
    t.regex(warnings[0]?.message ?? '', /\/dev\/null is not a folder.*CLSORT_CACHE_DIR/);
  } finally {
    process.env.CLSORT_CACHE_DIR = folder;
    await sorter.close();
  }
});

await forEachOpened((title, device) => {
  test.serial(
    title('cases whose data are prepared ahead are the same, and find the same fault'),
    async (t) => {
      const sizes: number[][] = [[], []];
      for (const [i, own] of sizes.entries()) {
        const sound = await altered(device, `ahead ${i}`, (real, queue, work) => {
          own.push(work.n);
          return real(queue, work);
        });
        const data = CaseData.ahead(sound.name, sound.shape, false);
        t.true((await selfTest(sound, i === 0 ? {} : { data })).ok);
      }
      const [alone, ahead] = sizes as [number[], number[]];
      const cases = Math.min(alone.length, ahead.length); // a self-test ends when its time is used up
      t.true(cases >= 10);
      t.deepEqual(ahead.slice(0, cases), alone.slice(0, cases));
      const wrong = await altered(device, 'ahead wrong', (real, queue, work) => {
        const sorted = real(queue, work);
        if (work.n === 64) queue.fill(work.output, 0, { bytes: 4 });
        return sorted;
      });
      const { reason } = await selfTest(wrong, { data: CaseData.ahead(wrong.name, wrong.shape, false) });
      t.is(reason, '64 random f32 keys: keys are wrong');
    },
  );

  test.serial(title('a variant that passes its self-test is not tested again'), async (t) => {
    let count = 0;
    const sound = await altered(device, 'sound', (real, queue, work, sorts) => {
      count = sorts;
      return real(queue, work);
    });
    t.true((await selfTest(sound)).ok);
    t.true(count >= 10, `${count} sorts`);
    const before = count;
    t.true((await selfTest(sound)).ok);
    t.is(count, before);
    await selfTest(sound, { again: true });
    t.true(count > before);
  });

  test.serial(title('a variant that loses a key fails its self-test permanently'), async (t) => {
    const wrong = await altered(device, 'wrong', (real, queue, work) => {
      const done = real(queue, work);
      if (work.n > 200) queue.fill(work.output, 7, { offset: 800, bytes: 4 });
      return done;
    });
    const record = await selfTest(wrong);
    t.false(record.ok);
    t.regex(record.reason ?? '', /257 .* keys are wrong/);
    t.deepEqual(await selfTest(wrong), record);
  });

  test.serial(
    title('stress rounds that were deferred complete the record of a variant, or reject it'),
    async (t) => {
      let count = 0;
      let isStress = false;
      const deferred = (tag: string, spoils: boolean) =>
        altered(device, tag, (real, queue, work) => {
          count++;
          const done = real(queue, work);
          if (isStress && spoils) queue.fill(work.output, 7, { bytes: 4 });
          return done;
        });
      const sound = await deferred('deferred', false);
      t.true((await selfTest(sound, { defersStress: true })).stressIsDue);
      const before = count;
      t.true((await selfTest(sound, { defersStress: true })).stressIsDue);
      t.is(count, before, 'it was tested');
      const rounds = stressTest(sound);
      let round = await rounds.next();
      t.is(count, before + 1);
      while (!round.done) round = await rounds.next();
      t.is(count, before + 8);
      t.like(round.value, { ok: true, stressIsDue: undefined });
      t.deepEqual(await selfTest(sound), round.value);

      const broken = await deferred('broken under stress', true);
      t.true((await selfTest(broken, { defersStress: true })).ok);
      isStress = true;
      const { value: record } = await stressTest(broken).next();
      t.regex(record?.reason ?? '', /constant .* keys are wrong/);
      t.deepEqual(await selfTest(broken), record);
    },
  );

  test.serial(title('a lack of memory in a self-test is a failure only the second time'), async (t) => {
    const fail = (times: number) => (real: Enqueue, queue: Queue, work: SortWork, sorts: number) => {
      if (sorts <= times) throw new MemoryError('no room');
      return real(queue, work);
    };
    t.true((await selfTest(await altered(device, 'short once', fail(1)))).ok);
    const { ok, reason } = await selfTest(await altered(device, 'short', fail(2)));
    t.false(ok);
    t.regex(reason ?? '', /twice: no room/);
  });

  test.serial(
    title('a variant fails its self-test once the device was lost in it for the second time'),
    async (t) => {
      const lost = await altered(device, 'lost', () => {
        throw new DeviceLostError('gone');
      });
      await t.throwsAsync(selfTest(lost), {
        instanceOf: DeviceLostError,
        message: /self-test of algorithm 'tiled': gone/,
      });
      t.false(written().includes('gone'));
      await t.throwsAsync(selfTest(lost), { instanceOf: DeviceLostError });
      t.regex((await selfTest(lost)).reason ?? '', /twice: gone/);
    },
  );

  testIf(
    ONESWEEP.available(device, SHAPE),
    title('variants whose groups wait for each other are tested beside a concurrent sort'),
    async (t) => {
      const queues = new Set<Queue>();
      const crowded = await altered(
        device,
        'crowded',
        (real, queue, work) => {
          queues.add(queue);
          return real(queue, work);
        },
        'onesweep',
      );
      const { withSecondQueue } = device;
      let secondQueueUses = 0;
      device.withSecondQueue = (use) => {
        secondQueueUses++;
        return withSecondQueue.call(device, use) as ReturnType<typeof use>;
      };
      t.true((await selfTest(crowded)).ok);
      t.is(secondQueueUses, 1);
      t.deepEqual([...queues], [device.queue], 'its rival has the second queue');
      const spoiled = await altered(
        device,
        'spoiled',
        (real, queue, work, sorts) => {
          const done = real(queue, work);
          if (secondQueueUses === 2 && sorts > 1) {
            queue.fill(work.output, 7, { bytes: 4 });
            // On a busy machine it may give up, which excuses a wrong result.
            if (done.status) queue.fill(done.status, 0, { bytes: 4 });
          }
          return done;
        },
        'onesweep',
      );
      const { ok, reason } = await selfTest(spoiled);
      t.false(ok);
      t.regex(reason ?? '', /beside another sort: keys are wrong/);
    },
  );
});
