/** Every operation of the matrix: correct results pass, and each kind of wrong result is detected. */
import test from 'ava';
import { DTYPES } from '../../src/keys/dtype.js';
import type { MatrixCase } from '../../src/matrix/matrix-case.js';
import { CaseRunner } from '../../src/matrix/run-case.js';
import { Sorter } from '../../src/sort/api/sorter.js';
import { CHECKED_OPERATIONS } from '../../src/sort/operations/cases.js';

const device = { platform: 'P', name: 'D', driver: '1' };

const caseOf = (over: Partial<MatrixCase>): MatrixCase => ({
  ...{
    operation: 'sort',
    algorithm: 'auto',
    dtype: 'f32',
    n: 500,
    order: 'ascending',
    keys: 'uniform',
    seed: 3,
  },
  ...over,
});

let host: Sorter;
test.before(async () => {
  host = await Sorter.open({ device: 'host' });
});
test.after.always(() => host.close());

const algorithmOf = (sorts: string): string => (sorts === 'none' ? 'none' : 'auto');

for (const { name: operation, sorts, minKeys = 0 } of CHECKED_OPERATIONS) {
  const algorithm = algorithmOf(sorts);

  test(`${operation}: the host engine passes for every dtype, size and order`, async (t) => {
    const runner = new CaseRunner(host, device, { again: 1 });
    let ok = 0;
    for (const dtype of DTYPES) {
      for (const n of [0, 1, 2, 300].filter((size) => size >= minKeys)) {
        for (const order of ['ascending', 'descending', 'descending-nan-first'] as const) {
          if (sorts === 'none' && order !== 'ascending') continue;
          for (const keys of ['uniform', 'few', 'constant'] as const) {
            const row = await runner.run(caseOf({ operation, algorithm, dtype, n, order, keys }));
            t.true(row.outcome === 'ok' || row.outcome === 'skipped', JSON.stringify(row));
            if (row.outcome === 'ok') ok++;
            else t.regex(row.reason ?? '', /cannot (?:compute|scan) .*f16/);
          }
        }
      }
    }
    t.true(ok > 20);
  });

  test(`${operation}: one wrong element in the result is detected`, async (t) => {
    const runner = new CaseRunner(spoiling(host), device, { again: 0 });
    const row = await runner.run(caseOf({ operation, algorithm, dtype: 'u32' }));
    t.is(row.outcome, 'wrong', JSON.stringify(row));
    t.truthy(row.reason);
  });

  test(`${operation}: a changed input array is detected`, async (t) => {
    const runner = new CaseRunner(scribbling(host), device, { again: 0 });
    const row = await runner.run(caseOf({ operation, algorithm, dtype: 'u32', keys: 'few' }));
    const inPlace = operation === 'sortInPlace'; // sorts a copy, in which the change is detected
    t.is(row.outcome, 'wrong', JSON.stringify(row));
    if (!inPlace) t.truthy(row.reason);
  });
}

test('reversed equal keys are wrong for a stable algorithm', async (t) => {
  const swapped = wrapped(host, (result) => {
    (result as Uint32Array).reverse();
    return result;
  });
  const row = await new CaseRunner(swapped, device).run(
    caseOf({ operation: 'argsort', dtype: 'u32', keys: 'constant' }),
  );
  t.is(row.outcome, 'wrong');
});

test('a thrown error becomes an error row with the first lines of its message', async (t) => {
  const failing = wrapped(host, () => {
    throw new Error('line 1\nline 2\nline 3\nline 4');
  });
  const row = await new CaseRunner(failing, device).run(caseOf({}));
  t.is(row.outcome, 'error');
  t.is(row.reason, 'line 1\nline 2\nline 3', 'a compiler log is truncated');
});

/** A Sorter whose results pass through `change`. */
function wrapped(
  sorter: Sorter,
  change: (result: unknown, args: unknown[], name: string) => unknown,
): Sorter {
  const handler: ProxyHandler<Sorter> = {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function' || name === 'upload' || name === 'plan') {
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return async (...args: unknown[]) => change(await value.apply(target, args), args, String(name));
    },
  };
  return new Proxy(sorter, handler);
}

/** Changes the last element of the last array of each result, or the number. */
const spoiling = (sorter: Sorter): Sorter =>
  wrapped(sorter, (result, _, name) => {
    if (typeof result === 'number') return result + 1;
    if (typeof result === 'bigint') return result + 1n;
    if (ArrayBuffer.isView(result)) return spoiled(result);
    if (hasRead(result) && name !== 'gather') return result; // an array on the device, for the next step
    if (hasRead(result)) return { read: async () => spoiled((await result.read()) as ArrayBufferView) };
    for (const array of Object.values(result as object)) if (ArrayBuffer.isView(array)) spoiled(array);
    return result;
  });

const hasRead = (result: unknown): result is { read(): Promise<unknown> } =>
  typeof (result as { read?: unknown })?.read === 'function';

function spoiled(array: ArrayBufferView): ArrayBufferView {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
  return array;
}

/** Changes the first array argument of each call. */
const scribbling = (sorter: Sorter): Sorter =>
  new Proxy(
    wrapped(sorter, (result, [array]) => {
      // Of several arrays a non-empty one; the last column may hold its keys in an object.
      const sortedValues = [array]
        .flat()
        .map((one) => (ArrayBuffer.isView(one) ? one : (one as { keys?: unknown })?.keys));
      const given = sortedValues.findLast((one) => ArrayBuffer.isView(one) && one.byteLength > 0);
      if (ArrayBuffer.isView(given)) spoiled(given);
      return result;
    }),
    {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (name !== 'upload') return value;
        return async (keys: ArrayBufferView, options: unknown) => {
          const there = await (value as (...args: unknown[]) => Promise<unknown>)(keys, options);
          spoiled(keys);
          return there;
        };
      },
    },
  );
