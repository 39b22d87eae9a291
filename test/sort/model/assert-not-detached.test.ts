/** Arrays whose memory may be detached or shrink: sorted if it stays, rejected by name if it does not. */
import test from 'ava';
import { InputError } from '../../../src/util/errors.js';
import { forEachFakeSorter } from '../fake-backend.js';

type Resizable = ArrayBuffer & { resize(bytes: number): void };

/** Keys in memory that can shrink; ES2024, which Node 20 has. */
function resizable(n: number): { keys: Uint32Array; shrink(): void } {
  const make = ArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => Resizable;
  const buffer = new make(4 * n, { maxByteLength: 8 * n });
  const keys = new Uint32Array(buffer, 0, n).map((_, i) => (i * 7919) % n);
  const own = new Uint32Array(buffer, 0, n);
  own.set(keys);
  return { keys: own, shrink: () => buffer.resize(4) };
}

forEachFakeSorter((title, open) => {
  test.serial(title('empty arrays detached during a call cause an InputError or no error'), async (t) => {
    const sorter = await open();
    const none = () => new Uint32Array(0);
    for (const [what, run] of Object.entries({
      sort: (keys: Uint32Array) => sorter.sort(keys),
      argsort: (keys: Uint32Array) => sorter.argsort(keys),
      sortPairs: (keys: Uint32Array) => sorter.sortPairs(keys, none()),
      values: (keys: Uint32Array) => sorter.sortPairs(none(), keys),
      sortInPlace: (keys: Uint32Array) => sorter.sortInPlace(keys),
      segmentedSort: (keys: Uint32Array) => sorter.segmentedSort(keys, [0]),
    })) {
      const before = sorter.sort(Uint32Array.from({ length: 500 })); // so that it waits
      const keys = none();
      const ended = run(keys);
      structuredClone(keys.buffer, { transfer: [keys.buffer as ArrayBuffer] });
      const failed = await ended.then(
        () => undefined,
        (error: unknown) => error,
      );
      t.true(failed === undefined || failed instanceof InputError, `${what}: ${failed}`);
      await before;
    }
  });

  test.serial(title('transfers reject if their array is detached while they wait'), async (t) => {
    const sorter = await open();
    const n = 3000;
    using array = await sorter.upload(new Uint32Array(n));
    for (const [what, run] of Object.entries({
      upload: (view: Uint32Array) => sorter.upload(view),
      write: (view: Uint32Array) => array.write(view),
      readInto: (view: Uint32Array) => array.readInto(view),
    })) {
      const shrinking = resizable(n);
      const moving = new Uint32Array(n);
      const before = sorter.sort(new Uint32Array(n), { timeout: 1_000_000 }); // runs alone
      const [shrunk, moved] = [run(shrinking.keys), run(moving)];
      shrinking.shrink();
      structuredClone(moving.buffer, { transfer: [moving.buffer] });
      const message = /array of 12000 bytes was transferred, detached or shrunk to 0 bytes/;
      await t.throwsAsync(shrunk, { instanceOf: InputError, message }, `${what}, shrunk`);
      await t.throwsAsync(moved, { instanceOf: InputError, message }, `${what}, transferred`);
      await before;
    }
    t.deepEqual(await array.read(), new Uint32Array(n), 'the device is as it was');
  });

  for (const n of [500, 100_000]) {
    const ascending = Uint32Array.from({ length: n }, (_, i) => (i * 7919) % n).sort();

    test.serial(title(`${n} keys in resizable memory are sorted like any others`), async (t) => {
      const sorter = await open();
      const { keys } = resizable(n);
      const { keys: into } = resizable(n);
      t.deepEqual(await sorter.sort(keys), ascending);
      t.deepEqual(await sorter.sort(keys, { verify: true, into }), ascending);
      t.deepEqual(
        (await sorter.argsort(keys)).map((i) => keys[i] ?? 0),
        ascending,
      );
      t.deepEqual((await sorter.sortPairs(keys, keys.slice())).values, ascending);
      t.deepEqual((await sorter.topK(keys, 3)).keys, ascending.slice(-3).reverse());
      t.is(await sorter.reduce(keys, 'max'), n - 1);
      t.deepEqual((await sorter.scan(keys, { into })).at(-1), (await sorter.scan(keys)).at(-1));
      const array = await sorter.upload(keys);
      t.deepEqual(await array.read(), keys.slice());
      await array.readInto(into);
      t.deepEqual(into.slice(), keys.slice());
      array.dispose();
      t.is(await sorter.sortInPlace(keys), keys);
      t.deepEqual(keys.slice(), ascending);
    });

    test.serial(title(`${n} keys detached during a call reject it with an InputError`), async (t) => {
      const sorter = await open();
      const values = Uint32Array.from({ length: n });
      const transfer = ({ buffer }: Uint32Array) =>
        structuredClone(buffer, { transfer: [buffer as ArrayBuffer] });
      for (const [what, run] of Object.entries({
        sort: (keys: Uint32Array) => sorter.sort(keys),
        argsort: (keys: Uint32Array) => sorter.argsort(keys),
        sortPairs: (keys: Uint32Array) => sorter.sortPairs(keys, values),
        values: (keys: Uint32Array) => sorter.sortPairs(values, keys),
        into: (into: Uint32Array) => sorter.sort(values, { into }),
        sortInPlace: (keys: Uint32Array) => sorter.sortInPlace(keys),
        topK: (keys: Uint32Array) => sorter.topK(keys, 5),
        unique: (keys: Uint32Array) => sorter.unique(keys),
        reduce: (keys: Uint32Array) => sorter.reduce(keys, 'sum'),
        scan: (keys: Uint32Array) => sorter.scan(keys),
        gather: (keys: Uint32Array) => sorter.gather(keys, values),
        lexsort: (keys: Uint32Array) => sorter.lexsort([keys]),
        segmentedSort: (keys: Uint32Array) => sorter.segmentedSort(keys, [0, n]),
      })) {
        const shrinking = resizable(n);
        const ended = run(shrinking.keys);
        shrinking.shrink();
        const message = /array of \d+ bytes was transferred, detached or shrunk to 0 bytes/;
        await t.throwsAsync(ended, { instanceOf: InputError, message }, `${what}, shrunk`);
        const moving = Uint32Array.from({ length: n });
        const moved = run(moving);
        transfer(moving);
        await t.throwsAsync(moved, { instanceOf: InputError, message }, `${what}, transferred`);
      }
      t.deepEqual(await sorter.sort(Uint32Array.of(2, 1)), Uint32Array.of(1, 2), 'the device is as it was');
    });
  }
});
