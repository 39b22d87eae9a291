import ava from 'ava';
import { PrimitiveBench, primitiveCases } from '../../src/bench/tune-primitives.js';
import { isPrimitive, PRIMITIVES } from '../../src/sort/backend/primitive-tuning.js';
import { UsageError } from '../../src/util/errors.js';
import { forEachDevice } from '../each-device.js';

const KEYS = { keyBits: 32, valueBytes: 0 } as const;

forEachDevice((title, open, small) => {
  ava.serial(
    title('results of scan, compact, unique, reduce and histogram are compared with the host before timing'),
    async (t) => {
      const device = await open();
      const shapes = [KEYS, { keyBits: 64, valueBytes: 0 }, { keyBits: 32, valueBytes: 4 }] as const;
      const cases = primitiveCases(device, PRIMITIVES, shapes);
      t.true(cases.every(({ algorithm, which }) => isPrimitive(algorithm) && which.valueBytes === 0));
      for (const one of cases) {
        const bench = await PrimitiveBench.open(device, { ...one, n: small ? 1000 : 20_000 });
        try {
          const { currentTuning } = bench;
          const right = await bench.attempt(currentTuning);
          t.is(right.result, 'ok', `${one.algorithm} of ${one.which.keyBits} bits`);
          const rounds = await bench.attempt({ ...currentTuning, rounds: 2 });
          t.is(rounds.result, 'ok');
        } finally {
          bench.close();
        }
      }
    },
  );

  ava.serial(title('a scan with a wrong result gets no time'), async (t) => {
    const device = await open();
    const bench = await PrimitiveBench.open(device, { algorithm: 'scan', which: KEYS, n: 1000 });
    const { queue } = device;
    const read = queue.read;
    // The result of the primitive is read with one extra bit.
    queue.read = (buffer, view, offset) => {
      read.call(queue, buffer, view, offset);
      const finish = queue.finish;
      queue.finish = async (deadline) => {
        queue.finish = finish;
        await finish.call(queue, deadline);
        const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
        bytes[5] = (bytes[5] ?? 0) ^ 1;
      };
    };
    try {
      t.like(await bench.attempt(bench.currentTuning), { result: 'wrong' });
    } finally {
      queue.read = read;
      bench.close();
    }
  });
});

ava('an algorithm other than scan, compact, unique, reduce and histogram raises a UsageError', async (t) => {
  const none = PrimitiveBench.open(undefined as never, { algorithm: 'tiled', which: KEYS, n: 1 });
  await t.throwsAsync(none, {
    instanceOf: UsageError,
    message: /expected one of scan, compact, unique, reduce, histogram/,
  });
});
