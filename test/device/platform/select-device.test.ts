import test from 'ava';
import { driverEnvironment } from '../../../src/device/platform/device-spec.js';
import type { DeviceInfo } from '../../../src/device/platform/platform.js';
import { AS_SPECIFIED, quirksOf } from '../../../src/device/platform/quirks.js';
import {
  deviceSpecs,
  matchingDevices,
  selectDevice,
  selectDevices,
} from '../../../src/device/platform/select-device.js';
import { NoDeviceError, UsageError } from '../../../src/util/errors.js';

const device = (id: string, over: Partial<DeviceInfo>): { info: DeviceInfo } => ({
  info: {
    id,
    platform: 'Some Platform',
    name: `device ${id}`,
    vendor: 'Some Vendor',
    type: 'cpu',
    version: '3.0',
    driver: '1',
    computeUnits: 2,
    globalBytes: 2 ** 30,
    maxAllocation: 2 ** 28,
    localBytes: 32768,
    maxWorkGroup: 1024,
    ...over,
  },
});

const found = [
  device('0:0', { name: 'pthread-cpu', platform: 'Portable Computing Language' }),
  device('1:0', { name: 'Small Radeon', type: 'gpu', computeUnits: 8 }),
  device('1:1', { name: 'Large Radeon', type: 'gpu', computeUnits: 60 }),
];

for (const [spec, id] of [
  ['auto', '1:1'],
  ['gpu', '1:1'],
  ['cpu', '0:0'],
  ['1:0', '1:0'],
  ['small', '1:0'],
  ['portable', '0:0'],
  [' RADEON ', '1:1'],
] as const) {
  test(`'${spec}' selects device ${id}`, (t) => {
    t.is(selectDevice(spec, found).info.id, id);
  });
}

test('an unknown device raises a NoDeviceError that lists the available ones', (t) => {
  const error = t.throws(() => selectDevice('GeForce', found), { instanceOf: NoDeviceError });
  t.regex(error?.message ?? '', /'GeForce'.*1:0 Small Radeon/s);
  const none = t.throws(() => selectDevice('gpu', found.slice(0, 1)), { instanceOf: NoDeviceError });
  t.notRegex(none?.message ?? '', /[Dd]id you mean/);
  t.throws(() => selectDevice('gup', found.slice(0, 1)), {
    message: /\. Did you mean "gpu"\? 'clsort devices'/,
  });
  t.throws(() => selectDevice('auto', []), { instanceOf: NoDeviceError, message: /no device is available/ });
});

test('matchingDevices returns all devices that a spec matches', (t) => {
  const ids = (spec: string) => matchingDevices(spec, found).map(({ info }) => info.id);
  t.deepEqual(ids('gpu'), ['1:0', '1:1']);
  t.deepEqual(ids('cpu'), ['0:0']);
  t.deepEqual(ids('radeon'), ['1:0', '1:1']);
  t.deepEqual(ids('all'), ['0:0', '1:0', '1:1']);
  t.deepEqual(ids('auto'), ['1:1'], 'the best one');
  t.throws(() => ids('nonesuch'), { instanceOf: NoDeviceError });
});

test('selectDevices returns each device that any spec matches once', (t) => {
  const ids = (...specs: string[]) => selectDevices(specs, found).map(({ info }) => info.id);
  t.deepEqual(ids('gpu', 'large', '1:1'), ['1:0', '1:1']);
  t.deepEqual(ids('auto', 'cpu'), ['0:0', '1:1']);
  t.deepEqual(ids('all', 'all'), ['0:0', '1:0', '1:1']);
  t.throws(() => ids('gpu', 'nonesuch'), {
    instanceOf: NoDeviceError,
    message: /'nonesuch': available are 0:0/,
  });
  t.throws(() => ids('gpu', 'host'), { instanceOf: UsageError });
  t.throws(() => ids(), { instanceOf: UsageError });
  t.throws(() => ids('alll'), { message: /Did you mean "all"/ });
  t.is(selectDevice('all', found).info.id, '1:1');
});

test('deviceSpecs splits texts at commas and rejects empty specs', (t) => {
  t.deepEqual(deviceSpecs(['gpu, 0:0', 'Some Platform']), ['gpu', '0:0', 'Some Platform']);
  for (const texts of [[], [''], ['gpu,'], [',']])
    t.throws(() => deviceSpecs(texts), { instanceOf: UsageError });
});

test('the host engine is not a device, and the error says that an OpenCL device is needed', (t) => {
  const error = t.throws(() => selectDevice('host', found), { instanceOf: UsageError });
  t.regex(error?.message ?? '', /expected an OpenCL device for device but got "host"/);
});

test('an empty device raises a UsageError', (t) => {
  t.throws(() => selectDevice('  ', found), { instanceOf: UsageError });
});

test('a CPU device uses host memory in place on PoCL, and where the probe found that it does', (t) => {
  const cpu = (platform: string) => ({ ...device('0:0', { platform }).info, type: 'cpu' as const });
  for (const platform of ['Intel(R) OpenCL', 'rusticl', 'Clover', 'Oclgrind']) {
    t.false(quirksOf(cpu(platform)).zeroCopy, platform);
    t.true(quirksOf(cpu(platform), { ...AS_SPECIFIED, zeroCopy: true }).zeroCopy, platform);
  }
  t.true(quirksOf(cpu('Portable Computing Language')).zeroCopy);
});

test('trust in a compiler follows the platform', (t) => {
  const ofCpu = (platform: string) => quirksOf({ ...device('0:0', { platform }).info, type: 'cpu' });
  t.true(ofCpu('rusticl').isTested);
  t.false(quirksOf({ ...device('0:0', { platform: 'rusticl' }).info, type: 'gpu' }).isTested);
  const zink = device('0:0', {
    platform: 'rusticl',
    name: 'zink Vulkan 1.4(llvmpipe (LLVM 19.1.7, 256 bits))',
  });
  t.false(quirksOf({ ...zink.info, type: 'cpu' }).isTested);
  t.false(ofCpu('rusticl').behavesAsSpecified);
});

test('what a probe found is part of the quirks, whatever the name of the driver', (t) => {
  const { info } = device('0:0', { platform: 'rusticl' });
  t.is(quirksOf(info).maxLoopIterations, Number.POSITIVE_INFINITY);
  const found = { maxLoopIterations: 65_535, reportsTimes: false, localBytesFactor: 2, zeroCopy: true };
  t.like(quirksOf(info, found), found);
});

test('-cl-std is used from OpenCL 1.2 on', (t) => {
  const accepts = (version: string) => quirksOf({ ...device('0:0', {}).info, version }).acceptsClStd;
  t.deepEqual(['1.0', '1.1', '1.2', '3.0'].map(accepts), [false, false, true, true]);
});

test('the driver environment lists variables that select devices, and no cache folders', (t) => {
  const env = {
    POCL_DEVICES: 'basic',
    POCL_CACHE_DIR: '/tmp/kernels',
    CUDA_CACHE_PATH: '/tmp/cuda',
    LP_CL: '1',
    RUSTICL_ENABLE: undefined,
    HOME: '/root',
  };
  t.deepEqual(driverEnvironment(env), { LP_CL: '1', POCL_DEVICES: 'basic' });
});
