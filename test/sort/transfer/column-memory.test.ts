/** The memory of a Sorter: counted, limited, and released by arrays that are never disposed of. */
import test from 'ava';
import { Sorter, UsageError } from '../../../src/index.js';
import { native } from '../../../src/opencl/binding.js';
import { deviceNames, PLATFORMS } from '../../each-device.js';
import { forEachSorter } from '../../each-sorter.js';

const MIB = 2 ** 20;

forEachSorter((title, open, small) => {
  test.serial(title('memory() returns the bytes in use, pooled and at peak'), async (t) => {
    const sorter = await open();
    const before = sorter.memory();
    const array = await sorter.upload(new Uint32Array(MIB / 4));
    const during = sorter.memory();
    t.is(during.used, before.used + MIB);
    t.true(during.peak >= during.used + during.idle);
    array.dispose();
    t.is(sorter.memory().used, before.used);
    sorter.trim();
    const after = sorter.memory();
    t.is(after.idle, 0);
    t.true(after.peak >= during.peak);
  });

  test.serial(title('results that are never disposed of release their memory'), async (t) => {
    const sorter = await open();
    const [rounds, bytes] = small ? [300, 2 ** 14] : [2000, MIB];
    using keys = await sorter.upload(
      Uint32Array.from({ length: bytes / 4 }, (_, i) => Math.imul(i, 2654435761)),
    );
    const totals: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await sorter.scan(keys); // no event loop turn here, in which V8 reports collected arrays
      const { used, idle } = sorter.memory();
      totals.push((used + idle) / MIB);
    }
    // For host memory V8 decides when arrays are collected, since it knows their size.
    const maxMib = sorter.device ? 100 : 400;
    const reported = `${totals.map((mebibytes) => Math.round(mebibytes)).filter((_, i) => i % 100 === 99)} MiB`;
    t.true(Math.max(...totals) <= maxMib, reported);
    t.is((await keys.read(1, 1))[0], Math.imul(1, 2654435761) >>> 0);
  });
});

test('V8 is informed once of memory that is pooled and reused', async (t) => {
  const [name = ''] = deviceNames();
  await using sorter = await Sorter.open({ device: PLATFORMS[name] ?? name });
  const before = native().externalBytes();
  sorter.createArray('u8', 8 * MIB).dispose();
  const reported = native().externalBytes();
  t.true(reported - before >= 8 * MIB);
  for (let round = 0; round < 20; round++) {
    using array = sorter.createArray('u8', 8 * MIB);
    t.is(array.length, 8 * MIB);
    t.true(Math.abs(native().externalBytes() - reported) < MIB);
  }
  sorter.trim();
  t.true(native().externalBytes() < reported - 7 * MIB);
});

test('the pool keeps at most poolBytes', async (t) => {
  const [name = ''] = deviceNames();
  const device = PLATFORMS[name] ?? name;
  await using sorter = await Sorter.open({ device, poolBytes: MIB });
  const arrays = [1, 2, 3].map(() => sorter.createArray('u8', MIB / 2));
  for (const array of arrays) array.dispose();
  t.true(sorter.memory().idle <= MIB);
  await using none = await Sorter.open({ device, poolBytes: 0 });
  none.createArray('u8', MIB).dispose();
  t.is(none.memory().idle, 0);
  t.deepEqual(await none.sort(Uint32Array.of(3, 1, 2)), Uint32Array.of(1, 2, 3));
  for (const poolBytes of [-1, 0.5, '1' as never]) {
    await t.throwsAsync(Sorter.open({ device, poolBytes }), { instanceOf: UsageError, message: /poolBytes/ });
  }
  await t.throwsAsync(sorter.sort(Uint32Array.of(1), { poolBytes: 1 } as object), { instanceOf: UsageError });
});
