import test from 'ava';
import { u32, u64 } from '../../../src/device/queue/queue.js';
import { forEachDevice } from '../../each-device.js';

const N = 64;

forEachDevice((title, open) => {
  /** A kernel that moves 32-bit elements by index, and a word for indices that are out of range. */
  async function mover() {
    const device = await open();
    const program = await device.program('gather.cl', {
      UNIT_BYTES: 4,
      UNITS: 1,
      INDEX_BITS: 32,
      GROUP_SIZE: 1,
    });
    const outside = device.allocatePersistent(4);
    return { device, queue: device.queue, kernel: program.kernel('gather'), outside };
  }

  test.serial(title('pending launches are enqueued before any other command'), async (t) => {
    const { device, queue, kernel, outside } = await mover();
    const [a, b, indices] = [device.buffer(N * 4), device.buffer(N * 4), device.buffer(N * 4)];
    queue.write(
      indices,
      Uint32Array.from({ length: N }, (_, i) => N - 1 - i),
    );
    queue.write(
      a,
      Uint32Array.from({ length: N }, (_, i) => i),
    );
    queue.run(kernel, [a, indices, b, u64(N), u64(N), outside, u32(0)], { global: N, local: 1 });
    queue.fill(a, 7, { bytes: N * 4 });
    queue.run(kernel, [b, indices, a, u64(N), u64(N), outside, u32(0)], { global: N / 2, local: 1 });
    const [forward, back] = [new Uint32Array(N), new Uint32Array(N)];
    queue.read(b, forward);
    queue.read(a, back);
    await queue.finish();
    t.deepEqual(
      [...forward],
      Array.from({ length: N }, (_, i) => N - 1 - i),
    );
    t.deepEqual(
      [...back],
      Array.from({ length: N }, (_, i) => (i < N / 2 ? i : 7)),
    );
    for (const buffer of [a, b, indices]) buffer.release();
  });

  test.serial(title('a buffer may be released right after the launch that uses it'), async (t) => {
    const { device, queue, kernel, outside } = await mover();
    const [a, b, indices] = [device.buffer(N * 4), device.buffer(N * 4), device.buffer(N * 4)];
    queue.fill(indices, 3);
    queue.fill(a, 41);
    queue.run(kernel, [a, indices, b, u64(N), u64(N), outside, u32(0)], { global: N, local: 1 });
    a.release();
    indices.release();
    const out = new Uint32Array(N);
    queue.read(b, out);
    await queue.finish();
    t.true(out.every((word) => word === 41));
    b.release();
  });

  test.serial(
    title('a long list of launches with alternating arguments has one time for each launch'),
    async (t) => {
      const { device, queue, kernel, outside } = await mover();
      const [a, b, indices] = [device.buffer(N * 4), device.buffer(N * 4), device.buffer(N * 4)];
      queue.write(
        indices,
        Uint32Array.from({ length: N }, (_, i) => (i + 1) % N),
      );
      queue.write(
        a,
        Uint32Array.from({ length: N }, (_, i) => i),
      );
      queue.startProfile();
      const rounds = 50;
      for (let round = 0; round < rounds; round++) {
        const [from, to] = round % 2 === 0 ? [a, b] : [b, a];
        queue.run(kernel, [from, indices, to, u64(N), u64(BigInt(N)), outside, u32(0)], {
          global: N,
          local: 1,
          stage: 'turn',
          pass: round,
        });
      }
      const out = new Uint32Array(N);
      queue.read(a, out);
      queue.addHostStage('by hand', 1.5);
      await queue.finish();
      t.deepEqual(
        [...out],
        Array.from({ length: N }, (_, i) => (i + rounds) % N),
      );
      const times = queue.endProfile();
      t.deepEqual(
        times.map(({ stage, pass }) => [stage, pass]),
        [
          ...Array.from({ length: rounds }, (_, round) => ['turn', round]),
          ['download', undefined],
          ['by hand', undefined],
        ],
      );
      t.is(times.at(-1)?.seconds, 1.5);
      for (const buffer of [a, b, indices]) buffer.release();
    },
  );

  test.serial(title('a wait whose last launch fails still waits for the commands before it'), async (t) => {
    const { device, queue, kernel, outside } = await mover();
    const [a, b] = [device.buffer(N * 4), device.buffer(N * 4)];
    queue.fill(b, 7);
    const out = new Uint32Array(N);
    queue.read(b, out);
    const { position } = queue;
    a.release();
    queue.run(kernel, [a, b, b, u64(N), u64(N), outside, u32(0)], {
      global: N,
      local: 1,
      stage: 'the stage',
    });
    await t.throwsAsync(queue.finish(), { message: /the stage/ });
    t.true(queue.hasPassed(position), 'the caller may have its memory back');
    t.true(out.every((word) => word === 7));
    await t.notThrowsAsync(queue.finish(), 'the failure is reported once');
    b.release();
  });

  test.serial(
    title('flushSoon submits at once on an idle queue, and batches launches on a busy queue'),
    async (t) => {
      const { device, queue, kernel, outside } = await mover();
      const [a, b, indices] = [device.buffer(N * 4), device.buffer(N * 4), device.buffer(N * 4)];
      const one = Uint32Array.from({ length: N }, (_, i) => (i + 1) % N);
      queue.write(indices, one);
      queue.write(a, one);
      await queue.finish();
      let submissions = 0;
      const submit = queue.submit.bind(queue);
      queue.submit = () => {
        submissions++;
        submit();
      };
      try {
        const launch = (from: typeof a, to: typeof a) => {
          queue.run(kernel, [from, indices, to, u64(N), u64(N), outside, u32(0)], { global: N, local: 1 });
          queue.flushSoon();
        };
        launch(a, b);
        t.is(submissions, 1);
        launch(b, a);
        launch(a, b);
        t.is(submissions, 1);
        await new Promise(setImmediate);
        t.is(submissions, 2, 'without a wait');
      } finally {
        Object.assign(queue, { submit });
      }
      const moved = new Uint32Array(N);
      queue.read(b, moved);
      await queue.finish();
      t.deepEqual(
        moved,
        one.map((_, i) => (i + 4) % N),
      );
      for (const buffer of [a, b, indices]) buffer.release();
    },
  );

  test.serial(
    title('a launch that the driver rejects throws a typed error that names the stage'),
    async (t) => {
      const { device, queue, kernel, outside } = await mover();
      const [a, indices] = [device.buffer(N * 4), device.buffer(N * 4)];
      queue.fill(a, 1);
      queue.fill(indices, 0);
      a.release();
      queue.run(kernel, [a, indices, indices, u64(N), u64(N), outside, u32(0)], {
        global: N,
        local: 1,
        stage: 'the stage',
      });
      const error = t.throws(() => queue.submit());
      t.regex(error?.message ?? '', /the stage/);
      t.is((error as { code?: string }).code?.startsWith('ERR_CLSORT_'), true);
      // The kernel can be launched again.
      const b = device.buffer(N * 4);
      const out = new Uint32Array(N);
      const again = device.buffer(N * 4);
      queue.fill(again, 5);
      queue.run(kernel, [again, indices, b, u64(N), u64(N), outside, u32(0)], { global: N, local: 1 });
      queue.read(b, out);
      await queue.finish();
      t.true(out.every((word) => word === 5));
      for (const buffer of [b, again, indices]) buffer.release();
    },
  );

  test.serial(title('measure returns the time of all its launches'), async (t) => {
    const { device, queue } = await mover();
    const buffer = device.buffer(2 ** 20);
    const busyBuffer = device.buffer(2 ** 20);
    for (const busy of [undefined, () => queue.fill(busyBuffer, 8)]) {
      const seconds = await queue.measure(() => queue.fill(buffer, 9), busy);
      t.true(seconds === null || (seconds > 0 && seconds < 60), `${seconds}`);
    }
    const out = new Uint32Array(4);
    for (const [written, word] of [[buffer, 9] as const, [busyBuffer, 8] as const]) {
      queue.read(written, out);
      await queue.finish();
      t.deepEqual([...out], [word, word, word, word]);
      written.release();
    }
  });
});
