#!/usr/bin/env node
// Soak tests: repeat an operation many times, print the resident memory over time, and fail when it grows:
//
//   node scripts/soak.mjs SUBJECT [--scale X] [--device NAME] [--minutes N] [--clients N] [--dtypes D,…] [--own-memory]
//     [--seed N]
//
//   binding    a million enqueues, 100,000 buffers dropped without release, 10,000 contexts
//   server     sorts of mixed sizes and dtypes for many concurrent clients through one Sorter; every result is checked,
//              and latencies are printed
//   devices    random calls, batches, faults, aborts and ending workers on two devices: see soak-devices.mjs
//   batches    random batches over two PoCL devices, with faults, kills, truncated inputs and full disks (as root),
//              resumed; every result is checked. Concurrently one batch receives jobs all the time, and its memory is
//              judged
//
//   --scale    share of that work, such as 0.01; default 1
//   --device   a name of CLSORT_TEST_DEVICES, for the server also any device of the library; default pocl
//   --minutes  duration: of the server at scale 1, default 10; of batches and of devices, default 40
//   --seed     of batches and of devices; default: random
//   --clients  of the server; default 64
//   --dtypes   key types of the server, such as u32,f64; default all. Kernels for other types are not compiled
//   --own-memory  of the server: the device reports dedicated memory (test/layer), so that small arrays of several
//              calls are transferred together; fails if none were
//
// Needs `npm run build`.

import { setImmediate as tick } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { driverEnv } from './drivers.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: 'string', default: '1' },
    device: { type: 'string', default: 'pocl' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    clients: { type: 'string', default: '64' },
    dtypes: { type: 'string' },
    'own-memory': { type: 'boolean', default: false },
  },
});
const scale = Number(values.scale);
const minutes = Number(values.minutes ?? (positionals[0] === 'server' ? 10 : 40));
const seed = Number(values.seed);
const clients = Number(values.clients);
// Drivers are loaded by the first call, and read their environment then.
Object.assign(process.env, driverEnv(values.device), { CLSORT_TEST_DEVICES: values.device });

const SAMPLES = 60;
/** Samples that are not judged, while the caches of V8, the C library and the driver fill. */
const WARM_UP = 15;
/**
 * Maximum memory growth over a whole run, by its slope after the warm-up; garbage-collected heaps fluctuate by about as
 * much. It detects leaks of 17 bytes per enqueue (a million), of 168 bytes per buffer (100,000) and of 1.7 KiB per
 * context (10,000). The smallest object of a driver is larger than 17 bytes. A smaller scale detects only larger leaks.
 */
const MAX_GROWTH = 16 * 2 ** 20;

const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(1);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/**
 * Returns the bytes that an operation leaves behind: the median of the slopes between all pairs of samples (Theil–Sen).
 * Unlike a least-squares line, it is robust against single samples before and after a collection.
 */
function slope(samples) {
  const slopes = samples.flatMap((a, i) =>
    samples.slice(i + 1).map((b) => (b.rss - a.rss) / (b.done - a.done)),
  );
  return median(slopes);
}

let failed = 0;

/**
 * Runs an operation `count` times, scaled, and judges the memory.
 *
 * @param operate receives the number of an operation; may be asynchronous
 */
async function soak(name, count, operate) {
  const total = Math.max(SAMPLES, Math.round(count * scale));
  const samples = [];
  const started = performance.now();
  let done = 0;
  for (let sample = 1; sample <= SAMPLES; sample++) {
    for (const end = Math.round((total * sample) / SAMPLES); done < end; done++) {
      const pending = operate(done);
      if (pending) await pending;
    }
    await tick();
    samples.push({ done, rss: process.memoryUsage.rss() });
    if (sample % 10 === 0) {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${name}: ${done} in ${seconds} s, ${mebibytes(samples.at(-1).rss)} MiB resident`);
    }
  }
  const each = slope(samples.slice(WARM_UP));
  const growth = each * total;
  const flat = growth <= MAX_GROWTH;
  if (!flat) failed++;
  const verdict = flat ? 'flat' : `GROWS, more than ${mebibytes(MAX_GROWTH)} MiB over the run`;
  console.log(`${name}: ${each.toFixed(1)} bytes each, ${mebibytes(growth)} MiB in all: ${verdict}`);
}

/** Tests enqueues, dropped buffers and contexts. */
async function binding() {
  const cl = await import('../dist/src/opencl/index.js');
  const { kernel, opened } = await import('../dist/test/opencl/devices.js');
  const [device] = opened;
  const { context, queue } = device;
  const put = kernel(device, 'kernel void put(global uint* a, uint b) { a[get_global_id(0)] = b; }');
  const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4096);
  const host = new Uint8Array(4096);
  cl.setKernelArg(put, 0, 'uint*', buffer);
  const commands = [
    (wanted) => cl.enqueueNDRangeKernel(queue, put, 1, null, [64], null, null, wanted),
    (wanted) => cl.enqueueReadBuffer(queue, buffer, false, 0, 256, host, null, wanted),
    (wanted) => cl.enqueueWriteBuffer(queue, buffer, false, 0, 256, host, null, wanted),
  ];
  const promises = [];
  // Of twelve commands three have no event, three an event that is released, three one that is left to the
  // collector, and three a promise. A caller that never waits would queue a million commands.
  await soak('enqueues', 1_000_000, (i) => {
    if (i % 3 === 0) cl.setKernelArg(put, 1, 'uint', i);
    const event = commands[i % 3](i % 12 >= 3);
    if (i % 12 >= 3 && i % 12 < 6) cl.releaseEvent(event);
    if (i % 12 >= 9) promises.push(event.completed);
    return i % 600 === 599 ? Promise.all([...promises.splice(0), cl.finishAsync(queue)]) : undefined;
  });
  cl.finish(queue);

  await soak('dropped buffers', 100_000, (i) => {
    const dropped = cl.createBuffer(context, cl.MEM_READ_WRITE, 16_384);
    if (i % 4 === 0) cl.enqueueWriteBuffer(queue, dropped, false, 0, 4096, host);
    return i % 100 === 99 ? cl.finishAsync(queue) : undefined;
  });

  const source = 'kernel void nothing(global int* a) { a[0] = 1; }';
  const first = cl.createProgramWithSource(context, source);
  cl.buildProgram(first, [device.device]);
  const [binary] = cl.getProgramInfo(first, cl.PROGRAM_BINARIES);
  await soak('contexts', 10_000, (i) => {
    const own = cl.createContext([cl.CONTEXT_PLATFORM, device.platform], [device.device]);
    const commandQueue = cl.createCommandQueue(own, device.device);
    // Building from source takes PoCL fifty times as long.
    const program =
      i % 200 === 0
        ? cl.createProgramWithSource(own, source)
        : cl.createProgramWithBinary(own, [device.device], [binary.length], [binary]);
    cl.buildProgram(program, [device.device]);
    cl.finish(commandQueue);
    cl.releaseProgram(program);
    cl.releaseCommandQueue(commandQueue);
    cl.releaseContext(own);
  });
}

/**
 * Maximum memory growth while a Sorter serves clients: a varying number of result arrays, each of up to 2 MiB, waits
 * for the garbage collector.
 */
const MAX_SERVER_GROWTH = 64 * 2 ** 20;

async function server() {
  const { soakServer } = await import('./soak-server.mjs');
  const device = values.device === 'pocl' ? 'Portable Computing Language' : values.device;
  const soak = () =>
    soakServer({
      device,
      minutes: minutes * scale,
      clients,
      mostGrowth: MAX_SERVER_GROWTH,
      ...(values.dtypes && { dtypes: values.dtypes.split(',') }),
    });
  failed += await (values['own-memory'] ? withOwnMemory(soak) : soak());
}

/**
 * Runs a soak test on a device that reports dedicated memory.
 *
 * @returns its failures, plus one when no arrays were transferred together
 */
async function withOwnMemory(soak) {
  const { LayerControl, underLayer } = await import('../dist/test/layer/layer.js');
  const { devices } = await import('../dist/src/index.js');
  const { result } = await underLayer(
    async (env) => {
      Object.assign(process.env, env);
      devices(); // makes the loader load the layer, which then knows its functions
      const control = new LayerControl(env.CLSORT_LAYER_CONTROL);
      control.fail({ at: 2 ** 32 - 1, function: 'clCreateSubBuffer' }, 0); // the call is only counted
      const failures = await soak();
      const slots = control.calls.all;
      console.log(`server: ${slots} staging slots were made for transfers that share a command`);
      return slots > 0 ? failures : failures + 1;
    },
    { ownMemory: true },
  );
  return result;
}

/** Maximum memory growth of a batch, whose processes have separate heaps, and arrays that wait for the next job. */
const MAX_BATCH_GROWTH = 96 * 2 ** 20;

async function batches() {
  const { soakBatches } = await import('./soak-batches.mjs');
  failed += await soakBatches({ minutes: minutes * scale, seed, mostGrowth: MAX_BATCH_GROWTH });
}

const devices = async () => {
  const { soakDevices } = await import('./soak-devices.mjs');
  failed += await soakDevices({ minutes: minutes * scale, seed });
};

const SUBJECTS = { binding, server, batches, devices };
const subject = SUBJECTS[positionals[0]];
const isUsable =
  scale > 0 && minutes > 0 && Number.isSafeInteger(seed) && Number.isInteger(clients) && clients > 0;
if (!subject || positionals.length > 1 || !isUsable) {
  console.error(
    `usage: node scripts/soak.mjs ${Object.keys(SUBJECTS).join(' | ')} [--scale X] [--device NAME] [--minutes N] [--clients N] [--dtypes D,…] [--own-memory] [--seed N]`,
  );
  process.exit(2);
}
await subject();
console.log(failed === 0 ? 'all flat, all right' : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
