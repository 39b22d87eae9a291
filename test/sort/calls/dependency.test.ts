/** Calls that take promises of the results of other calls. */
import test from 'ava';
import { type DeviceArray, InputError, UsageError } from '../../../src/index.js';
import { fakeSorter, forEachFakeSorter } from '../fake-backend.js';

const random = (n: number): Uint32Array =>
  Uint32Array.from({ length: n }, (_, i) => Math.imul(i + 1, 2654435761) >>> 7);

/** Unhandled rejections while `use` ran. */
async function unhandled(use: () => Promise<void>): Promise<unknown[]> {
  const seen: unknown[] = [];
  const listener = (reason: unknown) => seen.push(reason);
  process.on('unhandledRejection', listener);
  try {
    await use();
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  } finally {
    process.off('unhandledRejection', listener);
  }
  return seen;
}

forEachFakeSorter((title, open) => {
  const n = 5003;

  test.serial(title('every operation accepts promises of arrays'), async (t) => {
    const sorter = await open();
    const keys = random(n);
    const sorted = keys.toSorted();
    const uploaded = sorter.upload(keys); // its length is known once it is resolved
    const order = sorter.argsort(uploaded);
    const inOrder = sorter.gather(uploaded, order);
    const again = sorter.sort(sorter.sort(inOrder, { descending: true }));
    const sums = sorter.scan(again, { inclusive: true });
    const segments = sorter.segmentedSort(sums, [0, 10, n], { descending: true });
    const pairs = sorter.sortPairs(inOrder, order);
    const rows = sorter.lexsort([{ keys: again, descending: true }, order]);
    const top = sorter.topK(again, 3);
    const distinct = sorter.unique(inOrder);
    const maximum = sorter.reduce(sorter.sort(uploaded), 'max');
    const counts = sorter.histogram(again, { bitRange: [0, 1] });
    const read = async <A>(array: Promise<{ read(): Promise<A> }>) => (await array).read();

    t.deepEqual(await read(order), await sorter.argsort(keys));
    t.deepEqual(await read(inOrder), sorted);
    t.deepEqual(await read(again), sorted);
    const added = await sorter.scan(sorted, { inclusive: true });
    t.deepEqual(await read(sums), added);
    t.deepEqual(await read(segments), await sorter.segmentedSort(added, [0, 10, n], { descending: true }));
    t.deepEqual(await (await pairs).values.read(), await (await order).read());
    t.deepEqual(await read(rows), await sorter.argsort(sorted, { descending: true }));
    t.deepEqual(await (await top).keys.read(), sorted.slice(-3).reverse());
    t.deepEqual(await (await distinct).keys.read(), Uint32Array.from(new Set(sorted)));
    t.is(await maximum, sorted.at(-1) ?? 0);
    const odd = keys.filter((key) => key & 1).length;
    t.deepEqual(await counts, Uint32Array.of(n - odd, odd));
    const inPlace = sorter.sortInPlace(sorter.upload(keys));
    t.deepEqual(await read(sorter.sort(inPlace, { descending: true })), sorted.toReversed());
  });

  test.serial(title('a long chain of calls gives the results of single calls'), async (t) => {
    const sorter = await open();
    using keys = await sorter.upload(random(n));
    let chain: Promise<DeviceArray<'u32'>> | DeviceArray<'u32'> = keys;
    for (let i = 0; i < 15; i++) {
      const sorted: Promise<DeviceArray<'u32'>> = sorter.sort(chain, { descending: i % 2 === 0 });
      chain = sorter.gather(sorted, sorter.argsort(sorted));
    }
    t.deepEqual(await (await chain).read(), random(n).toSorted());
    t.deepEqual(await keys.read(), random(n));
  });

  test.serial(
    title('calls that depend on a failed call reject with its cause, and no rejection is unhandled'),
    async (t) => {
      const sorter = await open();
      using values = await sorter.upload(Uint32Array.of(5, 6, 7));
      using wrong = await sorter.upload(Uint32Array.of(0, 9, 1));
      const left = await unhandled(async () => {
        const cause = new Error('gone');
        const first = await t.throwsAsync(sorter.sort(Promise.reject<DeviceArray>(cause)), {
          instanceOf: InputError,
          message: /call that computes it failed \(gone\)/,
        });
        t.is(first?.cause, cause);
        const failed = sorter.gather(values, wrong);
        const dependant = sorter.argsort(sorter.sort(failed));
        const last = await t.throwsAsync(dependant, {
          instanceOf: InputError,
          message: /for indices but got 9/,
        });
        t.true(last?.cause instanceof InputError);
        // A call that has failed already, one that fails for its own reasons, and one that is rejected.
        await t.throwsAsync(sorter.sort(failed), { instanceOf: InputError, message: /cannot use an input/ });
        const refused = sorter.sort(values, { bitRange: [0, 99] as never });
        await t.throwsAsync(sorter.sort(refused), { instanceOf: InputError, message: /cannot use an input/ });
        const another = sorter.gather(values, wrong);
        await t.throwsAsync(sorter.sort(another, { unknown: 1 } as object), { instanceOf: UsageError });
        t.deepEqual(await (await sorter.sort(values)).read(), Uint32Array.of(5, 6, 7));
      });
      t.deepEqual(left, []);
    },
  );

  test.serial(
    title('an array may be disposed of, or written to, while calls that read it are running'),
    async (t) => {
      const sorter = await open();
      const keys = random(n);
      const array = await sorter.upload(keys);
      const calls = Array.from({ length: 5 }, () => sorter.sort(array));
      const written = array.write(new Uint32Array(n));
      const after = sorter.sort(array);
      array.dispose();
      const other = await sorter.upload(new Uint32Array(n).fill(3));
      for (const call of calls) t.deepEqual(await (await call).read(), keys.toSorted());
      await written;
      t.deepEqual(await (await after).read(), new Uint32Array(n));
      t.deepEqual(await other.read(), new Uint32Array(n).fill(3));
    },
  );

  test.serial(
    title('a promised array may be disposed of, or written to, as soon as it is available'),
    async (t) => {
      const sorter = await open();
      const keys = random(n);
      const uploaded = sorter.upload(keys);
      const sorted = sorter.sort(uploaded);
      (await uploaded).dispose();
      t.deepEqual(await (await sorted).read(), keys.toSorted());

      using array = await sorter.upload(keys);
      const inPlace = sorter.sortInPlace(array);
      const again = sorter.sort(inPlace, { descending: true });
      const written = array.write(new Uint32Array(n));
      t.deepEqual(await (await again).read(), keys.toSorted().reverse());
      await written;
    },
  );

  test.serial(title('a signal aborts its own call and rejects those that depend on it'), async (t) => {
    const sorter = await open();
    using array = await sorter.upload(random(n));
    const controller = new AbortController();
    const [plain, aborted] = [sorter.sort(array), sorter.sort(array, { signal: controller.signal })];
    const dependant = sorter.sort(aborted);
    controller.abort();
    await t.throwsAsync(aborted, { code: 'ERR_CLSORT_ABORTED' });
    const error = await t.throwsAsync(dependant, { instanceOf: InputError });
    t.like(error?.cause, { code: 'ERR_CLSORT_ABORTED' });
    t.deepEqual(await (await plain).read(), random(n).toSorted());
  });
});

for (const onMismatch of ['retry', 'throw'] as const) {
  test.serial(`a result fails verification after other calls have read it: ${onMismatch}`, async (t) => {
    const { sorter, session, warnings } = fakeSorter();
    const keys = random(4000);
    const sorted = keys.toSorted();
    using array = await sorter.upload(keys);
    (await sorter.argsort(await sorter.sort(array))).dispose(); // passes the self-tests
    // The first sort writes garbage, which is detected only after all calls that read it are enqueued.
    let tell: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      tell = resolve;
    });
    let sorts = 0;
    session.backend.faultOf = () => {
      sorts++;
      if (sorts === 3) tell();
      return sorts === 1 ? { spoils: 'left rubbish', until } : undefined;
    };
    const first = sorter.sort(array, { onMismatch });
    // The garbage is a single key, whose argsort would ascend: this one descends.
    const order = sorter.argsort(first, { descending: true });
    const again = sorter.gather(first, order);
    const beside = sorter.sort(array);
    if (onMismatch === 'throw') {
      await t.throwsAsync(first, { code: 'ERR_CLSORT_MISMATCH' });
      await t.throwsAsync(again, { instanceOf: InputError, message: /left rubbish/ });
    } else {
      t.deepEqual(await (await again).read(), sorted.toReversed());
      t.deepEqual(await (await order).read(), Uint32Array.from(sorted.keys()).reverse());
      t.deepEqual(await (await first).read(), sorted);
      t.deepEqual(
        warnings.map(({ code }) => code),
        ['ERR_CLSORT_MISMATCH'],
      );
    }
    t.deepEqual(await (await beside).read(), sorted);
    t.true(sorts >= 3);
  });
}
