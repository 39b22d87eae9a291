import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { create } from 'node:domain';
import test, { type ExecutionContext } from 'ava';
import { copyAsync, hashAsync } from '../../src/native-host/host-functions.js';
import * as cl from '../../src/opencl/index.js';
import { opened, thrown } from './devices.js';

const SOURCE = 'kernel void nothing(int a) {}';

for (const { name, context, device, queue, version, singleThreaded } of opened) {
  const title = (claim: string): string => `${name}: ${claim}`;
  const broken = () => cl.createProgramWithSource(context, 'kernel void broken( {');

  /** Every function that takes a callback: passes one and makes sure that it is called. */
  const CALLBACKS: Readonly<Record<string, (callback: () => void) => unknown>> = {
    buildProgram: (callback) =>
      cl.buildProgram(cl.createProgramWithSource(context, SOURCE), null, null, callback),
    ...(version >= 110 && {
      setEventCallback: (callback) =>
        cl.setEventCallback(cl.enqueueMarker(queue, true), cl.COMPLETE, callback),
      setMemObjectDestructorCallback(callback) {
        const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 8);
        cl.setMemObjectDestructorCallback(buffer, callback);
        cl.releaseMemObject(buffer);
      },
    }),
    ...(version >= 120 && {
      compileProgram: (callback) =>
        cl.compileProgram(cl.createProgramWithSource(context, SOURCE), null, null, null, null, callback),
      linkProgram(callback) {
        const program = cl.createProgramWithSource(context, SOURCE);
        cl.compileProgram(program);
        cl.linkProgram(context, null, null, [program], callback);
      },
    }),
  };

  for (const [call, hand] of Object.entries(CALLBACKS)) {
    /**
     * Waits for the value passed to `resolve`; the binding alone does not keep the process alive for every callback.
     */
    const within = async <T>(start: (resolve: (value: T) => void) => void): Promise<T> => {
      const keepAlive = setTimeout(() => undefined, 20_000);
      try {
        return await new Promise<T>(start);
      } finally {
        clearTimeout(keepAlive);
      }
    };

    test.serial(title(`a callback of ${call} runs in the context of its call`), async (t) => {
      const storage = new AsyncLocalStorage<number>();
      const [first, second] = await Promise.all(
        [1, 2].map((value) =>
          within<unknown>((resolve) => storage.run(value, () => hand(() => resolve(storage.getStore())))),
        ),
      );
      t.deepEqual([first, second], [1, 2]);
    });

    test.serial(title(`hooks see a callback of ${call}, and its exception reaches its domain`), async (t) => {
      const seen = new Set<string>();
      const ids = new Set<number>();
      const hook = createHook({
        init: (id, type) => type === 'OPENCL' && ids.add(id) && seen.add('init'),
        before: (id) => ids.has(id) && seen.add('before'),
        after: (id) => ids.has(id) && seen.add('after'),
      }).enable();
      const domain = create();
      const error = await within<Error>((resolve) => {
        domain.on('error', resolve);
        domain.run(() => {
          hand(() => {
            throw new Error('thrown by a callback');
          });
        });
      });
      await new Promise((resolve) => setImmediate(resolve));
      hook.disable();
      t.is(error.message, 'thrown by a callback');
      t.deepEqual([...seen], ['init', 'before', 'after']);
    });
  }

  /** Calls a function whose promise must reject with its name in the error's stack. */
  async function awaitsFailure(t: ExecutionContext, call: () => Promise<unknown>): Promise<cl.OpenCLError> {
    try {
      await call();
    } catch (error) {
      t.regex((error as Error).stack ?? '', /awaitsFailure/);
      return error as cl.OpenCLError;
    }
    throw new Error('nothing was rejected');
  }

  test.serial(title('a rejection carries the stack of the awaiting functions'), async (t) => {
    const { code, log } = await awaitsFailure(t, () => cl.buildProgramAsync(broken()));
    t.is(code, thrown(() => cl.buildProgram(broken())).code);
    t.true((log ?? '').length > 10);
    if (singleThreaded || version < 110) return;
    const user = cl.createUserEvent(context);
    await awaitsFailure(t, () => {
      const ended = cl.waitForEventsAsync([user]);
      cl.setUserEventStatus(user, -7);
      return ended;
    });
  });

  test.serial(title('functions that return a promise reject for every argument error'), async (t) => {
    const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 64);
    const wrong = 5 as never;
    const calls: (() => unknown)[] = [
      () => cl.waitForEventsAsync([]),
      () => cl.waitForEventsAsync(wrong),
      () => cl.finishAsync(wrong),
      () => cl.buildProgramAsync(wrong),
      () => cl.buildProgramAsync(broken(), [device], '@file'),
      () => cl.compileProgramAsync(wrong),
      () => cl.writeBufferAsync(queue, buffer, -1, new Uint8Array(8), new Uint8Array(8), 8, 1),
      () => cl.readBufferAsync(queue, wrong, 0, new Uint8Array(8), new Uint8Array(8), 8, 1),
      () => cl.prepareMappingAsync(queue, wrong),
      () => copyAsync(wrong, wrong, 1),
      () => hashAsync(wrong, wrong),
    ];
    for (const call of calls) {
      const promise = call();
      t.true(promise instanceof Promise, `${call}`);
      await t.throwsAsync(promise as Promise<unknown>, undefined, `${call}`);
    }
    cl.releaseMemObject(buffer);
  });
}
