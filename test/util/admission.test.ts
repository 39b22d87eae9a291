import test from 'ava';
import { Admission } from '../../src/util/admission.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('work starts in order within the load limit, and work above the limit runs alone', async (t) => {
  const admission = new Admission(4);
  const order: number[] = [];
  let [running, load, most] = [0, 0, 0];
  const loads = [1, 1, 4, 1, 9, 2, 2, 1, 1];
  const work = loads.map((own, i) =>
    admission.run(own, async () => {
      order.push(i);
      running++;
      load += own;
      if (running > 1) most = Math.max(most, load);
      if (own > 4) t.is(running, 1);
      await turn();
      running--;
      load -= own;
      if (i === 3) throw new Error('no');
    }),
  );
  const settled = await Promise.allSettled(work);
  t.deepEqual(
    settled.map(({ status }) => status === 'fulfilled'),
    loads.map((_, i) => i !== 3),
  );
  t.deepEqual(order, [...loads.keys()]);
  t.is(most, 4);
});

test('work within the limit starts synchronously, and synchronous work ends synchronously', async (t) => {
  const admission = new Admission(2);
  t.is(
    admission.run(2, () => 5),
    5,
  );
  t.throws(
    () =>
      admission.run(2, () => {
        throw new Error('no');
      }),
    { message: 'no' },
  );
  let settle = (): void => undefined;
  const first = admission.run(2, () => new Promise<void>((resolve) => (settle = resolve)));
  let ran = false;
  const second = admission.run(1, () => {
    ran = true;
  });
  t.false(ran);
  settle();
  await first;
  await second;
  t.true(ran);
});
