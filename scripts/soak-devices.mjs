// The soak test of two devices; scripts/soak.mjs runs it.
//
// A seed determines the rounds: concurrent calls of every kind, aborted calls, calls that OpenCL fails or whose reads
// it corrupts (test/layer), workers that end during a sort, and batches of files. Every result must equal the expected
// one, or be an error that a fault or an abort explains. The calls after a fault must succeed again.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { growthOf, isSame, jobOf, REQUESTS, tendencyOf } from './soak-server.mjs';

const command = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url));

/** Statuses for insufficient memory, and for a lost device. */
const STATUSES = [-4, -5, -6, -36, -61];
/** One of this many first calls of a round fails. */
const FAULTY_CALLS = 80;
/** Sorters are reopened after this many rounds: a Sorter permanently avoids an algorithm that has failed twice. */
const ROUNDS = 12;
/**
 * Limits for memory growth over the whole run, and for its trend, in bytes. Drivers compile in this process, some
 * programs late.
 */
const MAX_GROWTH = 256 * 2 ** 20;
const MAX_TENDENCY = 96 * 2 ** 20;
/**
 * Memory is judged after both limits: earlier, drivers cache programs at first use, and five minutes are few rounds on
 * a busy machine.
 */
const JUDGED_FROM = { seconds: 300, rounds: 800 };
/** A run is judged when at most this share of it has passed by then. */
const MAX_WARM_UP = 0.7;
/** Seconds after which a round counts as hung: on a busy machine, starting a process takes minutes. */
const ROUND_SECONDS = 900;
const MAX_PRINTED = 10;

/** Sets up two separate PoCL devices, the test layer, and a private cache. */
async function environment(folder) {
  const { layerEnvironment } = await import('../dist/test/layer/layer.js');
  const control = join(folder, 'control');
  writeFileSync(control, '');
  return {
    POCL_DEVICES: 'basic pthread',
    CLSORT_CACHE_DIR: join(folder, 'cache'),
    CLSORT_TUNING: 'off',
    ...layerEnvironment(control),
  };
}

class Soak {
  constructor({ random, sorters, open, control, jobs, folder }) {
    Object.assign(this, { random, sorters, open, control, jobs, folder });
    this.tally = {};
    this.failures = 0;
    /** Unfinished calls: none at the end of a round, since they would receive the faults of the next one. */
    this.underWay = 0;
  }

  fail(what) {
    if (++this.failures <= MAX_PRINTED) console.log(`FAILED: ${what}`);
  }

  count(what) {
    this.tally[what] = (this.tally[what] ?? 0) + 1;
  }

  one(list) {
    return list[this.random.below(list.length)];
  }

  /**
   * Makes one call on one of the devices.
   *
   * @param own options beside those of the job
   * @param mayFail returns whether an error of ours is expected
   * @param requests one of these is made
   */
  async call(sorter, own = {}, mayFail = () => false, requests = REQUESTS) {
    const [name, request] = this.one(Object.entries(requests));
    const job = this.one(this.jobs);
    const what = `${name} of ${job.keys.length} ${job.dtype} on ${sorter.device?.name}`;
    this.underWay++;
    try {
      const results = await request(sorter, { ...job, options: { ...job.options, ...own } });
      if (!results.every(([made, wanted]) => isSame(made, wanted))) this.fail(`${what}: wrong`);
      this.count('right');
    } catch (error) {
      if (typeof error?.code === 'string' && error.code.startsWith('ERR_CLSORT_') && mayFail(error)) {
        this.count(error.code);
      } else this.fail(`${what}: ${error?.stack ?? error}`);
    } finally {
      this.underWay--;
    }
  }

  /** Makes calls on all devices concurrently. */
  async calls() {
    await Promise.all(Array.from({ length: 16 }, (_, i) => this.call(this.sorters[i % this.sorters.length])));
  }

  async aborts() {
    const calls = Array.from({ length: 8 }, async (_, i) => {
      const controller = new AbortController();
      const pending = this.call(
        this.sorters[i % this.sorters.length],
        { signal: controller.signal },
        ({ code }) => code === 'ERR_CLSORT_ABORTED',
      );
      for (let turns = this.random.below(12); turns > 0; turns--) await new Promise(setImmediate);
      controller.abort();
      await pending;
    });
    await Promise.all(calls);
    await this.calls();
  }

  /** Fails one OpenCL call, whichever it is. */
  async faults() {
    this.control.fail({ at: 1 + this.random.below(FAULTY_CALLS) }, this.one(STATUSES));
    for (const sorter of [...this.sorters, ...this.sorters]) await this.call(sorter, {}, () => true);
    this.control.clear();
    await this.calls();
  }

  /**
   * Corrupts a word of a read. A sort with verification reports it or returns a repeated result. Transfers of device
   * arrays are no sorts and are not verified.
   */
  async corruption() {
    for (const sorter of this.sorters) {
      this.control.corrupt(1 + this.random.below(6), 1 << this.random.below(31));
      await this.call(sorter, { verify: true }, () => true, VERIFIED);
    }
    this.control.clear();
    await this.calls();
  }

  /** Ends a worker during a sort. */
  async workers() {
    const worker = new Worker(new URL('./soak-devices-worker.mjs', import.meta.url), {
      workerData: { device: this.one(this.sorters).device.id },
    });
    let left = 1 + this.random.below(20);
    const beside = this.calls();
    await new Promise((resolve, reject) => {
      worker.on('message', (message) => {
        if (message !== 'right') this.fail(`in a worker: ${message}`);
        if (--left === 0) worker.terminate().then(resolve, reject);
      });
      worker.on('error', reject);
      worker.on('exit', resolve);
    });
    await Promise.all([beside, this.calls()]);
    this.count('workers');
  }

  /** Sorts files with both devices in separate processes. */
  async batch() {
    const folder = mkdtempSync(join(this.folder, 'batch-'));
    mkdirSync(join(folder, 'out'));
    const picked = Array.from({ length: 6 }, () =>
      this.one(this.jobs.filter(({ dtype }) => !dtype.endsWith('f16'))),
    );
    const jobs = picked.map(({ dtype, keys, options }, i) => {
      writeFileSync(join(folder, `${i}`), keys);
      return { in: `${i}`, out: `out/${i}`, dtype, descending: options.descending };
    });
    writeFileSync(join(folder, 'jobs.json'), JSON.stringify({ jobs }));
    const devices = this.sorters.map(({ device }) => device.id);
    const args = [command, 'batch', join(folder, 'jobs.json'), '--quiet', '--device', ...devices];
    // Under the layer, which counts the objects of this process only.
    const env = { ...process.env, OPENCL_LAYERS: '' };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child; // ends with its parent
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    const beside = this.calls();
    const code = await new Promise((resolve) => child.on('close', resolve));
    await beside;
    if (code !== 0) this.fail(`a batch ended with ${code}: ${output}`);
    for (const [i, { sorted, dtype }] of picked.entries()) {
      if (code === 0 && !isSame(readFileSync(join(folder, 'out', `${i}`)), sorted))
        this.fail(`a batch: ${dtype} file is wrong`);
    }
    rmSync(folder, { recursive: true });
    this.count('batches');
  }
}

/** Requests in which `verify` covers every transfer. */
const VERIFIED = Object.fromEntries(Object.entries(REQUESTS).filter(([name]) => !/device array/.test(name)));

/** Relative frequency of each kind of round. */
const KINDS = { calls: 5, aborts: 4, faults: 5, corruption: 3, workers: 2, batch: 1 };
/** Each kind occurs at least once. */
const FIRST = Object.keys(KINDS);
const DRAWN = Object.entries(KINDS).flatMap(([kind, times]) => Array(times).fill(kind));

/**
 * Runs the soak test of two devices.
 *
 * @returns the number of wrong results, untyped errors and hung rounds, plus one each when memory or objects grew
 */
export async function soakDevices({ minutes, seed }) {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-soak-'));
  Object.assign(process.env, await environment(folder));
  const { DTYPES, devices, Sorter } = await import('../dist/src/index.js');
  const { Random } = await import('../dist/src/util/random.js');
  const { LayerControl } = await import('../dist/test/layer/layer.js');
  const random = new Random(seed);
  const jobs = DTYPES.flatMap((dtype) => Array.from({ length: 4 }, (_, i) => jobOf(dtype, 2 * i, random)));
  const chosen = devices().filter(({ platform }) => /portable/i.test(platform));
  if (chosen.length < 2) throw new Error(`two devices of PoCL are needed, there are ${chosen.length}`);
  const control = new LayerControl(process.env.CLSORT_LAYER_CONTROL);
  const open = () =>
    Promise.all(chosen.map(({ id }) => Sorter.open({ device: id, onWarning: () => undefined })));
  const soak = new Soak({ random, jobs, control, folder, open, sorters: [] });
  const samples = [];
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  const end = minutes * 60;
  const sampling = setInterval(
    () => samples.push({ seconds: elapsed(), rss: process.memoryUsage.rss() }),
    1000,
  );
  let rounds = 0;
  let reportedAt = 0;
  let judgedFrom = Number.POSITIVE_INFINITY;
  console.log(`devices: ${chosen.map(({ id, name }) => `${id} ${name}`).join(', ')}; seed ${seed}`);
  if (!control.loaded)
    throw new Error('the layer is not at work: does the OpenCL loader know OPENCL_LAYERS?');
  try {
    while (elapsed() < end || rounds < FIRST.length) {
      if (rounds % ROUNDS === 0) {
        for (const sorter of soak.sorters) await sorter.close();
        soak.sorters = await open();
      }
      const kind = FIRST[rounds] ?? soak.one(DRAWN);
      const before = soak.failures;
      const late = AbortSignal.timeout(ROUND_SECONDS * 1000);
      const hung = new Promise((_, reject) => {
        late.addEventListener('abort', () => reject(new Error(`${kind} hung`)));
      });
      await Promise.race([soak[kind](), hung]);
      if (soak.underWay > 0) soak.fail(`${soak.underWay} calls are still under way when their round ends`);
      if (soak.failures > before) console.log(`in round ${rounds}, ${kind}`);
      rounds++;
      if (rounds === JUDGED_FROM.rounds) judgedFrom = Math.max(JUDGED_FROM.seconds, elapsed());
      if (elapsed() > reportedAt + 60 || elapsed() >= end) {
        reportedAt = elapsed();
        const kept = Object.entries(control.live).map(([what, count]) => `${count} ${what}`);
        console.log(
          `${reportedAt.toFixed(0)} s: ${rounds} rounds, ${JSON.stringify(soak.tally)}, ` +
            `${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MiB, ${kept.join(', ')}`,
        );
      }
    }
  } catch (error) {
    soak.fail(`${error?.stack ?? error}`);
    soak.child?.kill('SIGKILL');
  }
  clearInterval(sampling);
  control.clear();
  for (const sorter of soak.sorters) await sorter.close();
  const left = await control.settled(10_000, ['device']);
  const misuses = control.misuses;
  if (misuses.count > 0) soak.fail(`${misuses.count} uses of what was released, the last by ${misuses.last}`);
  delete left.device;
  // An object whose creation or release failed may leak unreported: one leak per fault at most.
  const objects = Object.values(left).reduce((sum, count) => sum + count, 0);
  console.log(`devices: ${objects} objects are left when all is closed: ${JSON.stringify(left)}`);
  const isJudged = judgedFrom <= samples.at(-1).seconds * MAX_WARM_UP;
  const growth = isJudged ? growthOf(samples, judgedFrom) : 0;
  const tendency = isJudged ? tendencyOf(samples, judgedFrom) : 0;
  const flat = growth <= MAX_GROWTH && tendency <= MAX_TENDENCY;
  const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  const grown = `${mebibytes(growth)} more after the first ${judgedFrom.toFixed(0)} s, ${mebibytes(tendency)} by tendency: ${flat ? 'flat' : 'GROWS'}`;
  const memory = isJudged ? grown : 'too short a run to judge memory by';
  console.log(`devices: ${soak.failures} failures in ${rounds} rounds; ${memory}`);
  if (!flat) soak.failures++;
  control.close();
  rmSync(folder, { recursive: true, force: true });
  return soak.failures;
}
