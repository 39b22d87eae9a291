/** Calls whose waits end in the same turn of the event loop, as on fast devices. */
import test from 'ava';
import type { Session } from '../../../src/sort/backend/backend.js';
import { ArrayStore } from '../../../src/sort/calls/array-store.js';
import { CallScheduler } from '../../../src/sort/calls/call-scheduler.js';
import { DeviceArray } from '../../../src/sort/model/device-array.js';
import { EventLoopYield } from '../../../src/util/event-loop-yield.js';

const MIB = 2 ** 20;

/** Counts turns of the event loop until `stop`. */
function counted() {
  let [turns, on] = [0, true];
  const turn = () => {
    turns++;
    if (on) setImmediate(turn);
  };
  setImmediate(turn);
  const stop = () => {
    on = false;
    return turns;
  };
  return { stop };
}

/** A store of a device that completes everything at once, and its bytes in use. */
function storeOf() {
  const used = { bytes: 0 };
  const collected = { times: 0 };
  const memory = {
    take: (_: string, n: number) => {
      used.bytes += n;
      return { bytes: n };
    },
    give: ({ bytes }: { bytes: number }) => {
      used.bytes -= bytes;
    },
    collectGarbage: () => {
      collected.times++;
    },
    store: async () => undefined,
  };
  const backend = { memory };
  const session = { backend, run: (use: (on: object) => unknown) => use(backend), onGiveUp: () => undefined };
  return { store: new ArrayStore(session as unknown as Session, new CallScheduler()), used, collected };
}

/** Allocates an array of 1 MiB in the memory of `like`. */
const call = (store: ArrayStore, like: DeviceArray): Promise<DeviceArray> =>
  store.withResults((make) => make.allocateLike(like, 'u8', MIB).result);

test('results resolve at once up to 4 MiB, then after a turn of the event loop', async (t) => {
  let turns = 0;
  const loop = new EventLoopYield(4 * MIB, () => {
    turns++;
  });
  for (let i = 0; i < 4; i++) {
    loop.grow(MIB);
    t.is(loop.turnDue, undefined);
  }
  loop.grow(1);
  const turn = loop.turnDue;
  t.true(turn instanceof Promise);
  await Promise.resolve();
  t.is(turns, 0);
  await turn;
  t.is(turns, 1);
  loop.grow(MIB);
  t.is(loop.turnDue, undefined);
});

test('a single large result resolves at once', (t) => {
  const loop = new EventLoopYield(4 * MIB, () => undefined);
  loop.grow(1000 * MIB);
  t.is(loop.turnDue, undefined);
});

test('a program that awaits only calls yields to the event loop', async (t) => {
  const { store } = storeOf();
  const like = store.allocate('u8', 1);
  const { stop } = counted();
  for (let i = 0; i < 50; i++) await call(store, like);
  const turns = stop();
  t.true(turns >= 9 && turns <= 13, `${turns} turns`);
});

test('a program that awaits only uploads yields to the event loop', async (t) => {
  const { store } = storeOf();
  const { stop } = counted();
  for (let i = 0; i < 50; i++) await store.allocate('u8', MIB).write(new Uint8Array(1));
  t.true(stop() >= 9);
});

test('a program that disposes of its results is never delayed, however large they are', async (t) => {
  const { store, used } = storeOf();
  const like = store.allocate('u8', 1);
  const { stop } = counted();
  for (let i = 0; i < 50; i++) {
    (await call(store, like)).dispose();
    store.allocate('u8', 100 * MIB).dispose();
  }
  t.is(stop(), 0);
  t.is(used.bytes, 1);
});

test('a result that overwrites an array does not count as new memory', async (t) => {
  const { store } = storeOf();
  const into = store.allocate('u8', 8 * MIB);
  const { stop } = counted();
  for (let i = 0; i < 50; i++) {
    const made = await store.withResults(
      (make) => make.allocateLike<DeviceArray>(into, 'u8', 8 * MIB, into).result,
    );
    t.is(made, into);
  }
  t.is(stop(), 0);
  t.true(into instanceof DeviceArray);
});

test('a program that keeps more and more arrays triggers a garbage collection', async (t) => {
  const { store, collected } = storeOf();
  const like = store.allocate('u8', 1);
  const make = async (n: number) => {
    const made: DeviceArray[] = [];
    for (let i = 0; i < n; i++) made.push(await call(store, like));
    return made;
  };
  for (let i = 0; i < 5; i++) for (const array of await make(50)) array.dispose();
  t.is(collected.times, 0, 'all arrays were disposed of');
  await make(100);
  t.is(collected.times, 1);
});
