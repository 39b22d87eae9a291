// The soak test of batches; scripts/soak.mjs runs it. Two activities run concurrently:
//
//   rounds    a random batch over two devices whose driver fails occasionally, disrupted up to three times (the batch
//             or one of its processes is killed, inputs are truncated, the disk is full), and then completed. Checks:
//             correct results, errors for broken jobs, a consistent journal, no leftovers, nothing done twice. Only
//             root can fill the disk
//   a stream  one batch that receives one job per line during the whole run. Checks: correct results, constant memory

import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../dist/src/util/random.js';
import { LayerControl, layerEnvironment } from '../dist/test/layer/layer.js';
import { randomJobs } from './soak-batch-jobs.mjs';
import { growthOf } from './soak-server.mjs';

const MAIN = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
/** PoCL exposes two devices, one of which uses a single thread. */
const DEVICES = { POCL_DEVICES: 'basic pthread' };
/** Statuses from which a device recovers: out of resources, or lost. */
const STATUSES = [-4, -5, -6, -36];
/** Maximum number of failures printed individually. */
const MAX_PRINTED = 20;
const MAX_RUINS = 3;
/** Size of a disk, and the space left on it when it is full, in bytes. */
const DISK_BYTES = 2 ** 30;
const FULL_DISK_BYTES = 2 ** 20;
/** Memory that a stream may use per job, in bytes. */
const NAMES_BYTES = 2048;

/** Seconds after which a run counts as hung: on a busy machine, starting a process takes minutes. */
const HUNG_SECONDS = 600;

/**
 * Runs the command.
 *
 * @param onStart receives the process
 * @param seconds time limit
 * @returns its exit code and its output
 */
function clsort(args, env, { onStart, stdin = 'ignore', seconds } = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...DEVICES, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    // The output of a stream exceeds the maximum length of a string, and its feeder reads the output.
    if (stdin === 'ignore') out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  onStart?.(child);
  let isHung = false;
  const hang = () => {
    isHung = true;
    child.kill('SIGKILL');
  };
  const late = seconds && setTimeout(hang, seconds * 1000);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(late);
      resolve({ code, signal, out, err, isHung });
    });
  });
}

const rowsOf = (out) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Returns the last journal record of each output. */
function journalOf(folder) {
  const file = join(folder, 'jobs.json.journal');
  if (!existsSync(file)) return new Map();
  const lines = readFileSync(file, 'utf8').split('\n').slice(1, -1); // the part after the last line is incomplete
  return new Map(lines.map((line) => JSON.parse(line)).map((record) => [record.out, record]));
}

const modifiedOf = (path) => (existsSync(path) ? statSync(path, { bigint: true }).mtimeNs : undefined);

/** Returns temporary files that an interrupted process left behind. */
const leftovers = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tmp$|\.part$|clsort-state/.test(name),
  );

/** Returns a process and its descendants. */
function familyOf(pid) {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const children = tasks.flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    );
    return [pid, ...children.flatMap(familyOf)];
  } catch {
    return []; // it has ended meanwhile
  }
}

/** Returns the bytes of private memory of a process and its children. */
function residentOf(pid) {
  const ofOne = (one) => {
    try {
      const status = readFileSync(`/proc/${one}/status`, 'utf8');
      return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    } catch {
      return 0;
    }
  };
  return familyOf(pid).reduce((sum, one) => sum + ofOne(one), 0);
}

/** A folder, on a separate file system if permitted. */
class Disk {
  folder = mkdtempSync(join(tmpdir(), 'clsort-soak-'));
  isMounted = this.#mount('-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'none');

  #mount(...args) {
    return spawnSync('mount', [...args, this.folder]).status === 0;
  }

  /**
   * Leaves this many bytes free, by default as many as initially.
   *
   * @returns whether that is possible
   */
  leave(bytes = DISK_BYTES) {
    if (!this.isMounted) return false;
    const { bsize, blocks, bfree } = statfsSync(this.folder);
    return this.#mount('-o', `remount,size=${(blocks - bfree) * bsize + bytes}`);
  }

  remove() {
    if (this.isMounted) spawnSync('umount', ['-l', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Truncates inputs, as if they were still being written.
 *
 * @returns a function that restores them, and their outputs
 */
function cutInputs(folder, good, random) {
  const cut = good.filter(() => random.below(8) === 0);
  const whole = cut.flatMap(({ job }) =>
    [job.in].flat().map((name) => [join(folder, name), readFileSync(join(folder, name))]),
  );
  for (const [file, { length }] of whole) truncateSync(file, random.below(length + 1));
  return {
    outs: cut.map(({ job }) => job.out),
    mend: () => {
      for (const [file, bytes] of whole) writeFileSync(file, bytes);
    },
  };
}

class Soak {
  rounds = 0;
  jobs = 0;
  kills = 0;
  cuts = 0;
  fullDisks = 0;
  faults = 0;
  streamed = 0;
  failures = 0;
  rss = 0;

  fail(what) {
    if (++this.failures <= MAX_PRINTED) console.log(`FAILED: ${what}`);
  }
}

/** Runs one batch, disrupts it several times, and resumes it. */
async function round(soak, seed, end) {
  const random = new Random(seed);
  const disk = new Disk();
  const { folder } = disk;
  const control = `${folder}.control`; // not on a disk that may be full: it is memory of the layer
  writeFileSync(control, '');
  const wrong = (what) => soak.fail(`round of seed ${seed}: ${what}`);
  const layer = new LayerControl(control);
  try {
    const { good, bad } = randomJobs(folder, random, { good: 20 + random.below(60), bad: random.below(4) });
    const jobs = [...good.map(({ job }) => job), ...bad];
    for (let i = jobs.length - 1; i > 0; i--) {
      const other = random.below(i + 1);
      [jobs[i], jobs[other]] = [jobs[other], jobs[i]];
    }
    writeFileSync(join(folder, 'jobs.json'), JSON.stringify({ devices: ['0:0', '0:1'], jobs }));
    const env = {
      ...layerEnvironment(control),
      CLSORT_LAYER_ABORT: 'bitonic_block',
      CLSORT_CACHE_DIR: process.env.CLSORT_CACHE_DIR ?? join(tmpdir(), 'clsort-soak-cache'),
    };
    // A fault may hit the same job twice, so that the job is retried more often.
    const args = [
      'batch',
      join(folder, 'jobs.json'),
      '--json',
      '--retries',
      '6',
      '--parallel',
      `${1 + random.below(3)}`,
    ];
    const runOnce = async (how = {}) => {
      const ran = await clsort(args, env, { seconds: HUNG_SECONDS, ...how });
      if (ran.isHung) wrong(`a run has not ended after ${HUNG_SECONDS} seconds`);
      return ran;
    };
    const faulty = async (child) => {
      for (;;) {
        await sleep(200 + random.below(1500));
        if (child.exitCode !== null || child.signalCode !== null) return;
        layer.fail({ at: 1 + random.below(400) }, STATUSES[random.below(STATUSES.length)]);
        soak.faults++;
      }
    };
    const kill = async (child) => {
      await sleep(300 + random.below(4000));
      // Either everything, or one process that works on a device and is restarted.
      const [parent, ...children] = familyOf(child.pid);
      if (children.length > 0 && random.below(3) === 0)
        process.kill(children[random.below(children.length)], 'SIGKILL');
      else if (parent) child.kill('SIGKILL');
      soak.kills++;
    };
    /** Outputs whose inputs have changed since. */
    const changed = new Set();
    for (let ruins = random.below(MAX_RUINS + 1); ruins > 0 && Date.now() < end; ruins--) {
      const { outs, mend } = cutInputs(folder, random.below(2) === 0 ? good : [], random);
      for (const out of outs) changed.add(out);
      soak.cuts += outs.length;
      if (random.below(3) === 0 && disk.leave(random.below(FULL_DISK_BYTES))) soak.fullDisks++;
      await runOnce({
        onStart: (child) => {
          void faulty(child);
          void kill(child).catch(() => undefined); // it may have ended meanwhile
        },
      });
      await checkKilled(folder, changed, wrong);
      disk.leave();
      mend();
    }
    layer.clear();
    const before = new Map(
      [...journalOf(folder).values()]
        .filter(({ outcome, out }) => outcome === 'ok' && !changed.has(out))
        .map(({ out }) => [out, modifiedOf(join(folder, out))]),
    );
    const ran = await runOnce();
    check(folder, { good, bad, ran, before }, wrong);
    const times = good.flatMap(({ files }) => files.map(([file]) => modifiedOf(join(folder, file))));
    const again = await runOnce();
    const { ok, done, failed } = rowsOf(again.out).at(-1) ?? {};
    if (ok !== 0 || done !== good.length || failed !== bad.length) {
      wrong(`a second run says ok ${ok}, done ${done}, failed ${failed}: ${again.err.slice(-500)}`);
    }
    const after = good.flatMap(({ files }) => files.map(([file]) => modifiedOf(join(folder, file))));
    if (times.some((time, i) => time !== after[i])) wrong('a second run has changed a result');
    soak.rounds++;
    soak.jobs += jobs.length;
  } finally {
    layer.close();
    disk.remove();
    rmSync(control);
  }
}

/** Checks that every output which the journal of a killed batch records as done exists as recorded. */
async function checkKilled(folder, changed, wrong) {
  await sleep(1100); // its processes end within a second
  for (const { out, outcome, output } of journalOf(folder).values()) {
    if (outcome !== 'ok' || !output || changed.has(out)) continue;
    if (String(modifiedOf(join(folder, out))) !== output.modified)
      wrong(`${out} is not as the journal has it`);
  }
}

function check(folder, { good, bad, ran, before }, wrong) {
  const rows = rowsOf(ran.out);
  const summary = rows.pop() ?? {};
  if (summary.failed !== bad.length || summary.ok + summary.done !== good.length) {
    const listed = rows
      .filter(({ outcome }) => outcome === 'error')
      .map(({ name, error }) => `${name}: ${error.message}`);
    wrong(
      `${JSON.stringify(summary)}, and ${bad.length} are broken\n${listed.join('\n')}\n${ran.err.slice(-1000)}`,
    );
  }
  for (const { files } of good) {
    for (const [file, expected] of files) {
      const path = join(folder, file);
      if (!existsSync(path) || !readFileSync(path).equals(expected))
        wrong(`${file} is not what it has to be`);
    }
  }
  for (const [out, time] of before) {
    if (modifiedOf(join(folder, out)) !== time) wrong(`${out} was done before, and was done again`);
  }
  for (const name of leftovers(folder)) wrong(`${name} was left`);
  for (const { outcome, out } of journalOf(folder).values()) {
    if ((outcome === 'error') !== out.startsWith('out/bad ')) wrong(`the journal says ${outcome} of ${out}`);
  }
}

/** Number of different jobs that a stream repeats, and its maximum number of waiting jobs. */
const STREAMED_FILES = 40;
const MAX_WAITING = 60;

/** Runs a batch that receives jobs until the time is up. */
async function stream(soak, seed, end, samples) {
  const random = new Random(seed);
  const folder = mkdtempSync(join(tmpdir(), 'clsort-soak-stream-'));
  const wrong = (what) => soak.fail(`stream of seed ${seed}: ${what}`);
  try {
    const { good } = randomJobs(folder, random, { good: STREAMED_FILES, bad: 0 });
    const kinds = good.filter(({ job }) => job.in !== job.out);
    mkdirSync(join(folder, 'out'), { recursive: true });
    const expected = new Map();
    let [started, ended] = [0, 0];
    const began = Date.now();
    const ran = clsort(
      ['batch', '-', '--json', '--device', '0:0', '0:1'],
      {},
      {
        stdin: 'pipe',
        onStart: (child) => {
          const feed = async () => {
            while (Date.now() < end && child.exitCode === null) {
              if (started - ended >= MAX_WAITING) await sleep(20);
              else {
                const { job, files } = kinds[random.below(kinds.length)];
                const out = join(folder, 'out', `${started++}${job.out.slice(job.out.lastIndexOf('.'))}`);
                expected.set(out, files[0][1]);
                const { counts, ...rest } = job;
                const inputs = [job.in].flat().map((name) => join(folder, name));
                const own = { ...rest, in: inputs, out, ...(counts && { counts: `${out}.counts.u64` }) };
                child.stdin.write(`${JSON.stringify(own)}\n`);
              }
            }
            child.stdin.end();
          };
          void feed();
          const sampling = setInterval(() => {
            soak.rss = residentOf(child.pid);
            samples.push({ seconds: (Date.now() - began) / 1000, rss: soak.rss });
          }, 1000);
          child.on('close', () => clearInterval(sampling));
          createInterface({ input: child.stdout }).on('line', (line) => {
            const { schema, out, outcome, error } = JSON.parse(line);
            if (schema !== 'clsort.batch-job/1') return;
            ended++;
            soak.streamed++;
            if (outcome !== 'ok') return wrong(`${out}: ${outcome} ${error?.message}`);
            if (!readFileSync(out).equals(expected.get(out))) wrong(`${out} is not what it has to be`);
            expected.delete(out);
            rmSync(out);
            rmSync(`${out}.counts.u64`, { force: true });
          });
        },
      },
    );
    const { code, err } = await ran;
    if (code !== 0) wrong(`exit code ${code}: ${err.slice(-1000)}`);
    if (expected.size > 0) wrong(`${expected.size} jobs were never reported`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Shorter runs are not judged by memory, since their processes have just started. */
const MIN_MINUTES = 3;

const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/**
 * Runs the soak test of batches.
 *
 * @param seed of the first round, incremented for each further one
 * @param mostGrowth bytes by which the memory of the stream may grow after the warm-up
 * @returns the number of failures
 */
export async function soakBatches({ minutes, seed, mostGrowth }) {
  console.log(`batches: seed ${seed}`);
  const soak = new Soak();
  const samples = [];
  const began = Date.now();
  const end = began + minutes * 60_000;
  const tell = () => {
    const { rounds, jobs, kills, cuts, fullDisks, faults, streamed, failures, rss } = soak;
    const passed = ((Date.now() - began) / 60_000).toFixed(1);
    console.log(
      `batches: ${passed} min, ${rounds} rounds of ${jobs} jobs, ${kills} kills, ${faults} faults, ${cuts} cut inputs, ${fullDisks} full disks; ` +
        `${streamed} jobs in a stream, ${mebibytes(rss)} resident; ${failures} failures`,
    );
  };
  const telling = setInterval(tell, 60_000);
  const rounds = async () => {
    for (let i = 0; Date.now() < end || i === 0; i++) await round(soak, seed + i, end);
  };
  try {
    await Promise.all([rounds(), stream(soak, seed, end, samples)]);
  } finally {
    clearInterval(telling);
  }
  tell();
  if (minutes < MIN_MINUTES) console.log(`batches: memory is judged from ${MIN_MINUTES} minutes on`);
  else {
    // Caches fill more slowly the more kinds of jobs there are, above all on a busy machine.
    const growth = growthOf(samples, samples.at(-1).seconds / 3);
    // The batch keeps the names of files, since no later job may write them.
    const bound = mostGrowth + NAMES_BYTES * soak.streamed;
    const flat = growth <= bound;
    if (!flat) soak.failures++;
    const verdict = flat ? 'flat' : `GROWS, by more than ${mebibytes(bound)}`;
    console.log(`batches: ${mebibytes(growth)} more after the warm-up: ${verdict}`);
  }
  return soak.failures;
}
