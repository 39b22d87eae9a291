import './two-devices.js';
import test from 'ava';
import { findDevices } from '../../../src/device/platform/platform.js';
import { SorterOperations } from '../../../src/sort/api/sorter-operations.js';
import type { Backend, Session, SessionCall } from '../../../src/sort/backend/backend.js';
import { DeviceSession } from '../../../src/sort/backend/device-session.js';
import { DeviceGroup } from '../../../src/sort/multi-device/device-group.js';
import { DeviceWorker } from '../../../src/sort/multi-device/device-worker.js';
import { type ClsortError, DeviceLostError, MemoryError, TimeoutError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';

/** A session whose device fails on demand. */
class FailingSession implements Session {
  readonly #session: DeviceSession;
  /** Number of calls that succeed from now on, and the error of later ones. */
  fault: { after: number; error: ClsortError } | undefined;

  constructor(session: DeviceSession) {
    this.#session = session;
  }

  get backend(): Backend {
    return this.#session.backend;
  }

  async run<T>(use: (backend: Backend) => Promise<T>, call: SessionCall): Promise<T> {
    if (this.fault && this.fault.after-- <= 0) throw this.fault.error;
    return this.#session.run(use, call);
  }

  complete<T>(backend: Backend, use: () => Promise<T>, call: SessionCall): Promise<T> {
    return this.#session.complete(backend, use, call);
  }

  onDueTest(): void {}

  onGiveUp(then: () => void): void {
    this.#session.onGiveUp(then);
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

const keys = keysOf('u32', 'uniform', 50_000) as Uint32Array;
const expected = keys.toSorted();
const TWO_DEVICES = { advanced: { tuning: { deviceCount: 2 } } } as const;

const same = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.from(a.buffer as ArrayBuffer, a.byteOffset, a.byteLength).equals(
    Buffer.from(b.buffer as ArrayBuffer, b.byteOffset, b.byteLength),
  );

let warnings: string[] = [];
let sessions: FailingSession[];
let sorter: SorterOperations;
test.before(async () => {
  const onWarning = ({ message }: Error) => warnings.push(message);
  sessions = [];
  for (const { info } of findDevices())
    sessions.push(new FailingSession(await DeviceSession.open(info.id, {}, onWarning)));
  const [first] = sessions as [FailingSession];
  const workers = sessions.map((session) => new DeviceWorker(session, onWarning));
  sorter = new SorterOperations(first, onWarning, undefined, new DeviceGroup(workers, onWarning));
  await sorter.sort(keys, TWO_DEVICES); // both are measured
  await sorter.topK(keys, 10, TWO_DEVICES);
});
test.beforeEach(() => {
  warnings = [];
  for (const session of sessions) session.fault = undefined;
});
test.after.always(() => sorter?.close());

const lost = new DeviceLostError('the card has gone');

test.serial('the share of a lost device is sorted by the other device, whichever is lost', async (t) => {
  for (const session of sessions) {
    session.fault = { after: 0, error: lost };
    t.true(same(await sorter.sort(keys, TWO_DEVICES), expected));
    t.is(warnings.length, 1);
    t.regex(warnings[0] ?? '', /the card has gone; moving the shard to/);
    warnings = [];
    session.fault = { after: 0, error: lost };
    const order = await sorter.argsort(keys, { ...TWO_DEVICES, descending: true, verify: true });
    t.true(order.every((p, i) => keys[p] === expected[keys.length - 1 - i]));
    session.fault = { after: 0, error: lost };
    t.deepEqual([...(await sorter.topK(keys, 3, TWO_DEVICES)).keys], [...expected.slice(-3).reverse()]);
    session.fault = undefined;
    warnings = [];
  }
});

test.serial('a device without memory for its share leaves it to another and warns', async (t) => {
  const warningCodes: string[] = [];
  const [first] = sessions as [FailingSession];
  first.fault = { after: 0, error: new MemoryError('no room') };
  const onWarning = ({ code }: ClsortError) => warningCodes.push(code);
  t.true(same(await sorter.sort(keys, { ...TWO_DEVICES, onWarning }), expected));
  t.deepEqual(warningCodes, ['ERR_CLSORT_MEMORY']);
  t.deepEqual(warnings, []);
});

test.serial('the call rejects with the device error if no device is left', async (t) => {
  for (const session of sessions) session.fault = { after: 0, error: lost };
  const into = new Uint32Array(keys.length);
  t.is(await t.throwsAsync(sorter.sort(keys, { ...TWO_DEVICES, into })), lost);
  for (const session of sessions) session.fault = undefined;
  t.true(same(await sorter.sort(keys, { ...TWO_DEVICES, into }), expected));
});

test.serial('a passed deadline rejects the call, and no other device starts', async (t) => {
  const [first] = sessions as [FailingSession];
  first.fault = { after: 0, error: new TimeoutError('too late') };
  await t.throwsAsync(sorter.sort(keys, { ...TWO_DEVICES, timeout: 100_000 }), { instanceOf: TimeoutError });
  t.deepEqual(warnings, []);
});

test.serial('a device that fails while it is measured is left out', async (t) => {
  const [first, second] = sessions as [FailingSession, FailingSession];
  second.fault = { after: 0, error: lost };
  const wide = keysOf('u64', 'uniform', 20_000) as BigUint64Array;
  const sorted = await sorter.sort(wide, TWO_DEVICES);
  t.true(same(sorted, wide.toSorted()));
  t.regex(warnings[0] ?? '', /cannot use .*: the card has gone/);
  second.fault = undefined;
  t.is(first.fault, undefined);
});
