import test from 'ava';
import { Device } from '../../src/device/device.js';
import { behaviourOf, knownBehaviour } from '../../src/device/driver-probe.js';
import { AS_SPECIFIED } from '../../src/device/platform/quirks.js';
import { DeviceLostError } from '../../src/index.js';
import { forEachDevice, PLATFORMS } from '../each-device.js';

type Probed = ReturnType<Parameters<typeof behaviourOf>[1]>;

/** A step of the loop in driver_probe.cl. */
function step(word: number): number {
  let next = word;
  next ^= next << 13;
  next ^= next >>> 17;
  return (next ^ (next << 5)) >>> 0;
}

interface Behaviour {
  readonly limit?: number;
  readonly seconds?: number | null;
  readonly localBytes?: number;
  /** Whether buffers over host memory are copies of it. */
  readonly copies?: boolean;
  readonly error?: Error;
}

/** A device without a driver, which runs the probe as told. */
function fakeDevice({
  limit = Number.POSITIVE_INFINITY,
  seconds = 1e-4,
  localBytes = 4096,
  copies = true,
  error,
}: Behaviour) {
  let [word, closed] = [0, 0];
  let memory: Uint32Array | undefined;
  const queue = {
    write: (_: unknown, view: Uint32Array) => {
      word = view[0] ?? 0;
    },
    read: (_: unknown, view: Uint32Array) => view.fill(word),
    run: (_: unknown, [, steps]: readonly { value: number }[]) => {
      for (let i = 0; i < Math.min(limit, steps?.value ?? 0); i++) word = step(word);
      if (!copies) memory?.fill(word, 0, 1);
    },
    startProfile: () => undefined,
    takeProfile: () => () => [{ stage: 'driver_probe', seconds }],
    finish: async () => {
      if (error) throw error;
    },
  };
  const device = {
    queue,
    program: async () => ({ kernel: () => ({ localBytes }) }),
    buffer: (_: number, options?: { readonly hostMemory?: Uint32Array }) => {
      memory = options?.hostMemory;
      return { release: () => undefined };
    },
    close: async () => void closed++,
    abandon: async () => undefined,
  };
  return { device: device as unknown as Probed, closed: () => closed, memory: () => memory };
}

let drivers = 0;

/** The description of a driver that was never opened. */
const newDriver = (version = '3.0') => ({
  ...{ id: '0:0', platform: 'rusticl', name: 'a GPU', vendor: 'X', type: 'gpu' as const, version },
  driver: `test ${process.pid} ${drivers++}`,
  ...{
    computeUnits: 1,
    globalBytes: 2 ** 30,
    maxAllocation: 2 ** 28,
    localBytes: 2 ** 15,
    maxWorkGroup: 256,
  },
});

test('a driver that runs the probe to its end has no loop limit, whatever its name', async (t) => {
  const info = newDriver();
  const { device, closed } = fakeDevice({});
  t.is(knownBehaviour(info), undefined);
  t.deepEqual(await behaviourOf(info, () => device), AS_SPECIFIED);
  t.is(closed(), 1);
  t.deepEqual(knownBehaviour(info), AS_SPECIFIED);
});

test('a loop limit, missing times and doubled local memory are found, and recorded', async (t) => {
  for (const limit of [1000, 65_535]) {
    const info = newDriver();
    const { device } = fakeDevice({ limit, seconds: null, localBytes: 8192 });
    const found = { maxLoopIterations: limit, reportsTimes: false, localBytesFactor: 2, zeroCopy: false };
    t.deepEqual(await behaviourOf(info, () => device), found);
    const unopened = () => t.fail('the record suffices');
    t.deepEqual(await behaviourOf(info, unopened as unknown as () => Probed), found);
  }
});

test('a time that is too short or too long to be true counts as missing', async (t) => {
  for (const seconds of [1e-9, 1e3]) {
    const { device } = fakeDevice({ seconds });
    t.false((await behaviourOf(newDriver(), () => device)).reportsTimes);
  }
});

test('a driver that reports no local memory counts each byte once', async (t) => {
  const { device } = fakeDevice({ localBytes: 0 });
  t.is((await behaviourOf(newDriver(), () => device)).localBytesFactor, 1);
});

test('a CPU device whose driver copies host memory is found, and recorded', async (t) => {
  for (const copies of [true, false]) {
    const info = { ...newDriver(), type: 'cpu' as const };
    const { device, memory } = fakeDevice({ copies });
    const found = { ...AS_SPECIFIED, zeroCopy: !copies };
    t.deepEqual(await behaviourOf(info, () => device), found);
    t.deepEqual(knownBehaviour(info), found);
    t.not((memory()?.byteOffset ?? 0) % 8, 0, 'a driver may use aligned memory only in place');
  }
});

test('a GPU needs no buffer over host memory', async (t) => {
  const { device, memory } = fakeDevice({ copies: false });
  t.false((await behaviourOf(newDriver(), () => device)).zeroCopy);
  t.is(memory(), undefined);
});

test('a probe that fails is not recorded, and the device counts as limited', async (t) => {
  const info = newDriver();
  const { device, closed } = fakeDevice({ error: new DeviceLostError('lost') });
  t.like(await behaviourOf(info, () => device), { maxLoopIterations: 65_535, reportsTimes: false });
  t.is(closed(), 1);
  t.is(knownBehaviour(info), undefined);
});

/** What the probe finds on the drivers of the tests. */
const EXPECTED: Readonly<Record<string, object>> = {
  pocl: { ...AS_SPECIFIED, zeroCopy: true },
  clover: { maxLoopIterations: 65_535, reportsTimes: true, localBytesFactor: 1, zeroCopy: true },
  rusticl: { localBytesFactor: 2, maxLoopIterations: 65_535, reportsTimes: false, zeroCopy: true },
  oclgrind: AS_SPECIFIED,
  'rusticl 25': { ...AS_SPECIFIED, zeroCopy: true },
  zink: AS_SPECIFIED,
};

/** The key of a driver in EXPECTED. */
function versionOf(name: string, info: { readonly name: string; readonly driver: string }): string {
  if (name !== 'rusticl' || Number.parseInt(info.driver, 10) < 25) return name;
  return info.name.startsWith('zink') ? 'zink' : 'rusticl 25';
}

forEachDevice((title, open, _small, name) => {
  test(title('the probe finds the known behaviour of the driver'), async (t) => {
    const { info, capabilities } = await open();
    const probed = await Device.open(PLATFORMS[name] ?? name);
    const found = await behaviourOf({ ...newDriver(), type: info.type }, () => probed);
    t.like(found, EXPECTED[versionOf(name, info)] ?? { maxLoopIterations: Number.POSITIVE_INFINITY });
    t.like(capabilities.quirks, found);
  });
});
