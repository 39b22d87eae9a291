import test from 'ava';
import {
  bestForecast,
  type Cluster,
  type ForecastRequest,
  forecast,
  maxBytesWithin,
} from '../../../src/engines/forecast/forecast.js';
import { DEVICE_RATES, HOST_RATES, RUNNER_RATES } from '../../../src/engines/forecast/measured-rates.js';
import type { Cost, DeviceRates, HostRates } from '../../../src/engines/forecast/rates.js';
import { layoutOrdering } from '../../../src/io/records/layout-ordering.js';

const cost = (seconds: number, cpu = seconds): Cost => ({ seconds, cpu });
const NONE = cost(0);

/** A worker that takes a second for each 10^9 bytes of a stage, on one core. */
const HOST: HostRates = {
  ...{ of: 'records', unit: 100, name: 'a host', cores: 4, full: 1, date: '2026-01-01' },
  ...{ sample: NONE, splitters: NONE, piece: NONE, opened: NONE, task: NONE },
  ...{ partition: cost(1e-9), sort: cost(1e-9), verify: cost(1e-9) },
};
const DEVICE: DeviceRates = {
  ...{ name: 'a device', driver: '1', date: '2026-01-01', source: 'made up', cpu: 0 },
  ...{ words: 1e-8, bus: 1.2e9 },
};

const request = (cluster: Partial<Cluster>, more: Partial<ForecastRequest> = {}): ForecastRequest => ({
  bytes: 1e12,
  order: layoutOrdering({ record: 100, keys: [{ offset: 0, length: 10 }] }),
  kind: { of: 'records', unit: 100 },
  cluster: { nodes: 10, gpus: 2, cores: 32, ...cluster },
  rates: { host: HOST, device: DEVICE, engine: { name: 'none', task: 0, stage: 0, job: 0, source: '' } },
  partitions: 400,
  shards: 400,
  ...more,
});

const stage = (of: ForecastRequest, name: string) => {
  const found = forecast(of).stages.find((one) => one.stage === name);
  if (!found) throw new Error(name);
  return found;
};

test('the time of a stage is its waves of tasks times host, device and bus time', (t) => {
  // 400 tasks of 2.5 GB, 20 workers: 20 waves.
  const partition = stage(request({}), 'partition');
  t.like(partition, { tasks: 400, workers: 20, waves: 20, binds: 'host' });
  t.true(Math.abs(partition.seconds - 20 * 2.5) < 1e-9);
  const sort = stage(request({}), 'sort');
  // 25 million records: 0.25 s on the device, and 12 bytes of each on the bus.
  t.true(Math.abs(sort.seconds - 20 * (2.5 + 0.25 + 0.25)) < 1e-9);
  t.is(stage(request({}, { partitions: 401 }), 'sort').waves, 21, 'one more task needs another wave');
});

test('cores, disk, network or storage limit a stage if workers need more than is available', (t) => {
  t.like(stage(request({ cores: 1 }), 'partition'), { binds: 'cores', seconds: 100 });
  const half = { ...request({}).rates, host: { ...HOST, full: 0.5 } };
  t.like(stage(request({ cores: 1 }, { rates: half }), 'partition'), { binds: 'cores', seconds: 200 });
  // Each byte is read and written.
  const disk = stage(request({ disk: 1e9 }), 'partition');
  t.is(disk.binds, 'disk');
  t.true(Math.abs(disk.seconds - 200) < 1e-6);
  t.true(Math.abs(stage(request({ disk: 1e9 }), 'verify').seconds - 100) < 1e-6);
  const network = stage(request({ network: 1e9 }), 'partition');
  t.is(network.binds, 'network');
  t.true(Math.abs(network.seconds - 0.9 * 200) < 1e-6, 'a tenth of it is on the node itself');
  t.is(stage(request({ nodes: 1, network: 1 }), 'partition').alone.network, 0);
  // Separate storage: all reads and writes go over it at the same time.
  const beside = request({ storage: 5e9, network: 1e9 });
  t.like(stage(beside, 'partition'), { binds: 'storage', seconds: 400 });
  t.is(stage(beside, 'partition').alone.network, 100);
});

test('a forecast adds up time, node hours and memory', (t) => {
  const plan = forecast(request({}));
  const sum = plan.stages.reduce((all, { seconds }) => all + seconds, 0);
  t.is(plan.seconds, sum);
  t.is(plan.nodeHours, (10 * sum) / 3600);
  t.is(plan.n, 1e10);
  t.true(plan.memoryPerNode > 2 * plan.partBytes);
  t.is(plan.byDisk, undefined);
  const few = forecast(request({ memory: 4e9 }));
  t.is(few.byDisk, 'memory', 'less than a part needs');
  t.is(forecast(request({}, { partitions: 1 })).byDisk, 'array');
  t.true(few.seconds > plan.seconds && few.memoryPerNode <= 4e9);
});

test('bestForecast chooses the fewest partitions with the shortest time', (t) => {
  const piece = cost(1e-3);
  const rates = { ...request({}).rates, host: { ...HOST, piece, opened: piece } };
  const asked = request({}, { partitions: undefined, rates });
  const best = bestForecast(asked);
  for (const partitions of [1, 10, 20, 100, 200, 300, 400, 512]) {
    t.true(forecast({ ...asked, partitions }).seconds >= best.seconds / 1.011, `${partitions}`);
  }
  const fewer = Array.from({ length: best.partitions - 1 }, (_, i) =>
    forecast({ ...asked, partitions: i + 1 }),
  );
  t.true(fewer.every(({ seconds }) => seconds > best.seconds));
});

test('mostWithin returns the largest input that is sorted within the given time', (t) => {
  const { bytes: _, partitions: __, shards: ___, ...rest } = request({});
  const bytes = maxBytesWithin(60, rest);
  t.true(bestForecast({ ...rest, bytes }).seconds <= 60);
  t.true(bestForecast({ ...rest, bytes: bytes * 1.01 }).seconds > 60);
  const slow = { ...rest, rates: { ...rest.rates, engine: { ...rest.rates.engine, job: 61 } } };
  t.is(maxBytesWithin(60, slow), 0);
});

test('the measured rates are positive and have a date, and device rates a driver and a source', (t) => {
  for (const { driver, date, source } of DEVICE_RATES) {
    t.true(driver !== '' && source !== '');
    t.regex(date, /^\d{4}-\d\d-\d\d$/);
  }
  for (const { partition, sort, verify, task, ...row } of HOST_RATES) {
    for (const { seconds, cpu } of [partition, sort, verify, task])
      t.true(seconds > 0 && cpu > 0, `${row.of} ${row.unit}`);
  }
  t.deepEqual(
    RUNNER_RATES.map(({ name }) => name),
    ['local', 'bullmq', 'slurm', 'kubernetes'],
  );
});
