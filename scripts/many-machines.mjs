#!/usr/bin/env node
// Tests sorts over several machines on this one: Redis and three workers, each with a separate network namespace, and
// then Slurm.
//
//     node scripts/many-machines.mjs [--size MIB] [--keep] [--only bullmq|slurm]
//
// Needs root, redis-server and iproute2; for Slurm slurmctld, slurmd and munge. Records in 16 shards are sorted in 12
// partitions. The test kills a worker in each stage, kills Redis and deletes its data once, and cuts a network link for
// ten seconds. It also kills everything and restarts it. The parts are joined and checked by
// scripts/sort-benchmark.mjs. Slurm has one node, on which a task fails once, and also runs a batch. Without network
// namespaces the workers use the loopback interface, and the cut link is skipped and counted as skipped. The last line
// is `N passed, N failed, N skipped`.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { cpus, hostname, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rootlessEnv } from './rootless.mjs';

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '512' },
    keep: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const MAIN = join(root, 'dist/src/cli/main.js');
const BENCHMARK = join(root, 'scripts/sort-benchmark.mjs');
const MIB = Number(values.size);
const COUNT = Math.floor((MIB * 2 ** 20) / 100);
const folder = mkdtempSync(join(tmpdir(), 'clsort-machines-'));
const shared = join(folder, 'shared');
mkdirSync(shared);
const env = { ...process.env, ...rootlessEnv(join(root, '.setup')), CLSORT_TUNING: 'off' };
delete env.CLSORT_REDIS_URL;
const path = (name) => join(shared, name);
const totals = { passed: 0, failed: 0, skipped: 0 };
const started = performance.now();
const say = (text) =>
  process.stdout.write(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}\n`);

function check(name, isRight, details = '') {
  totals[isRight ? 'passed' : 'failed']++;
  say(`${isRight ? 'ok    ' : 'FAILED'}  ${name}${isRight || details === '' ? '' : `\n${details}`}`);
}

function skip(name, reason) {
  totals.skipped++;
  say(`skipped  ${name}: ${reason}`);
}

/** Resolves when everything has ended; undefined until shutdown starts. */
let ending;
/** Clean-up actions, run in reverse order in any case. */
const undo = [];
const children = new Set();

/** Starts a program, in a network namespace if one is named. */
function start(name, args, { network, cwd = shared, more = {} } = {}) {
  if (ending) throw new Error('interrupted');
  const command = network ? ['ip', 'netns', 'exec', network, ...args] : args;
  const child = spawn(command[0], command.slice(1), {
    cwd,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      child.text += text;
      child.hear?.(text);
    });
  }
  children.add(child);
  child.over = new Promise((resolve) => {
    child.once('error', (error) => resolve(`${error.message}`));
    child.once('close', (code, signal) => resolve(signal ?? code));
  }).finally(() => children.delete(child));
  child.title = name;
  return child;
}

const call = (command, ...args) => spawnSync(command, args, { encoding: 'utf8', env, cwd: '/' });
const tried = (command, ...args) => call(command, ...args).status === 0;
const has = (command) => tried('sh', '-c', `command -v ${command}`);

/** Waits until a condition holds. */
async function until(what, isSo, seconds = 60) {
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await delay(50)) {
    if (await isSo()) return true;
  }
  say(`waited ${seconds} s in vain for ${what}`);
  return false;
}

const digest = (name) =>
  readdirSync(path(name))
    .sort()
    .map(
      (file) =>
        `${file} ${createHash('sha256')
          .update(readFileSync(join(path(name), file)))
          .digest('hex')}`,
    )
    .join('\n');

/** Joins the parts, and checks them with a program independent of clsort. */
async function checkResult(what, out) {
  const joined = path(`${out}.dat`);
  const concat = start('concat', [process.execPath, MAIN, 'concat', path(out), '-o', joined]);
  check(`${what}: the parts are joined`, (await concat.over) === 0, concat.text);
  const checked = start('check', [process.execPath, BENCHMARK, 'check', joined, '--of', path('in.dat')]);
  check(
    `${what}: order and records are right, says the independent checker`,
    (await checked.over) === 0,
    checked.text,
  );
  rmSync(joined, { force: true });
}

const SORT = [
  '--record',
  '100',
  '--key',
  '0:10',
  '--partitions',
  '12',
  '--shards',
  '16',
  '--workers-folder',
  shared,
];
const STAGES = ['sample', 'splitters', 'partition', 'sort', 'verify'];
/** Seconds of silence after which a task moves to another worker. */
const STALLED = 4;
/** Less memory than the largest parts need, so that these use the disk. */
const MEMORY = `${Math.max(64, Math.ceil(MIB / 4))}M`;
const PASSWORD = 'a secret of this run';

const draw = Number(process.hrtime.bigint() % 10_000n);
const NAME = `cls${draw}`;

/**
 * Creates three network namespaces behind a bridge with Redis; returns undefined when the kernel does not allow them.
 */
function makeNetworks() {
  const bridge = `${NAME}br`;
  const net = `10.${200 + (draw % 50)}.${draw % 250}`;
  const ip = (...args) => tried('ip', ...args);
  if (!ip('link', 'add', bridge, 'type', 'bridge')) return undefined;
  undo.push(() => ip('link', 'del', bridge));
  if (!ip('addr', 'add', `${net}.1/24`, 'dev', bridge) || !ip('link', 'set', bridge, 'up')) return undefined;
  const hosts = [1, 2, 3].map((i) => ({
    network: `${NAME}w${i}`,
    link: `${NAME}v${i}`,
    address: `${net}.${i + 1}`,
  }));
  for (const { network, link, address } of hosts) {
    if (!ip('netns', 'add', network)) return undefined;
    undo.push(() => ip('netns', 'del', network));
    const made =
      ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', network) &&
      ip('link', 'set', link, 'master', bridge, 'up') &&
      ip('-n', network, 'addr', 'add', `${address}/24`, 'dev', 'eth0') &&
      ip('-n', network, 'link', 'set', 'eth0', 'up') &&
      ip('-n', network, 'link', 'set', 'lo', 'up');
    if (!made) return undefined;
  }
  return { address: `${net}.1`, hosts };
}

/** Redis and three workers, each on a separate host if there are network namespaces. */
class Machines {
  networks = process.getuid() === 0 && has('ip') ? makeNetworks() : undefined;
  address = this.networks?.address ?? '127.0.0.1';
  port = 12_000 + (draw % 6000);
  more = { CLSORT_REDIS_URL: `redis://:${encodeURIComponent(PASSWORD)}@${this.address}:${this.port}` };
  redis = undefined;
  /** Workers by host. */
  workers = new Map();
  /** Output of all workers and coordinators. */
  said = '';
  /** Called immediately when a worker starts a task. */
  onBegin = undefined;

  async startRedis() {
    const options = ['--port', String(this.port), '--bind', this.address, '--save', '', '--appendonly', 'no'];
    this.redis = start('redis', ['redis-server', ...options, '--requirepass', PASSWORD], { cwd: folder });
    await until('Redis', () => /Ready to accept/.test(this.redis.text));
  }

  async stopRedis() {
    this.redis.kill('SIGKILL');
    await this.redis.over;
  }

  startWorker(host) {
    const args = ['worker', '--json', '--device', 'cpu', '--memory', MEMORY, '--stalled', String(STALLED)];
    const network = this.networks?.hosts[host].network;
    const child = start('worker', [process.execPath, MAIN, ...args], { network, more: this.more });
    let left = '';
    child.hear = (text) => {
      const lines = (left + text).split('\n');
      left = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('{')) continue;
        const event = JSON.parse(line);
        if (event.is === 'begin') {
          child.task = event.task;
          this.onBegin?.(child, event.task);
        } else if (event.is === 'done' || event.is === 'failed') child.task = undefined;
      }
    };
    child.host = host;
    child.over.then((code) => {
      this.said += child.text;
      if (code !== 'SIGKILL') say(`a worker has ended by itself (${code}):\n${child.text}`);
    });
    this.workers.set(host, child);
  }

  startWorkers() {
    for (const host of [0, 1, 2]) this.startWorker(host);
  }

  async stopWorkers() {
    for (const child of this.workers.values()) child.kill('SIGKILL');
    await Promise.all([...this.workers.values()].map((child) => child.over));
  }

  sort(out) {
    const child = start(
      'sort',
      [process.execPath, MAIN, 'sort', path('in.dat'), '-o', path(out), ...SORT, '--engine', 'bullmq'],
      {
        more: this.more,
      },
    );
    child.over.then(() => {
      this.said += child.text;
    });
    return child;
  }
}

/**
 * Sorts while a worker is killed in each stage.
 *
 * @returns the stages in which no worker was caught at work
 */
async function withKills(machines, out, stages) {
  const left = new Set(stages);
  let killing = Promise.resolve();
  machines.onBegin = (child, task) => {
    if (!left.has(task.kind) || child.killed) return;
    child.kill('SIGKILL');
    killing = killing.then(async () => {
      await child.over;
      // Its output so far shows whether it was still working.
      if (child.task) left.delete(task.kind);
      machines.startWorker(child.host);
    });
  };
  const sort = machines.sort(out);
  const code = await sort.over;
  machines.onBegin = undefined;
  await killing;
  check('after killed workers the sort completes', code === 0, sort.text);
  return [...left];
}

async function overRedis() {
  const machines = new Machines();
  const { networks } = machines;
  if (!networks) say('the kernel gives no networks here: the workers are on the loopback');
  await machines.startRedis();
  machines.startWorkers();

  // A task may end before its worker is killed: then another attempt follows.
  let left = STAGES;
  for (let tries = 0; tries < 4 && left.length > 0; tries++) {
    left = await withKills(machines, 'out', left);
    if (left.length > 0) say(`no worker was caught in ${left.join(', ')}: once more`);
  }
  check('a worker was killed by SIGKILL in each stage', left.length === 0, left.join());
  await checkResult('killed workers', 'out');
  const expected = digest('out');

  // Redis loses all its data, and a host its network.
  let restarting;
  let cutting;
  machines.onBegin = (child, { kind }) => {
    if (kind === 'partition') {
      restarting ??= (async () => {
        await machines.stopRedis();
        await machines.startRedis();
        say('Redis was killed, and started again without what it knew');
      })();
    }
    if (kind === 'sort' && networks) {
      cutting ??= (async () => {
        const { link } = networks.hosts[child.host];
        const isCut = tried('ip', 'link', 'set', link, 'down');
        await delay(10_000);
        const isBack = tried('ip', 'link', 'set', link, 'up');
        say('the link of a host at work was cut for 10 s');
        return isCut && isBack;
      })();
    }
  };
  const disturbed = machines.sort('out2');
  check(
    'after cut links and a restart of Redis the sort completes',
    (await disturbed.over) === 0,
    disturbed.text,
  );
  machines.onBegin = undefined;
  await restarting;
  check('Redis was restarted', restarting !== undefined);
  if (networks) check('a link was cut', (await cutting) === true);
  else skip('a link was cut', 'no networks of their own');
  check('after cut links and a restart of Redis the bytes are the same', digest('out2') === expected);
  for (const out of ['out', 'out2']) rmSync(path(out), { recursive: true });

  // Everything is killed, and the same command is restarted.
  let begun = 0;
  const all = machines.sort('out3');
  machines.onBegin = (_, { kind }) => {
    if (kind === 'sort' && ++begun === 3) all.kill('SIGKILL');
  };
  check('the coordinator was killed', (await all.over) === 'SIGKILL', all.text);
  machines.onBegin = undefined;
  await machines.stopWorkers();
  await machines.stopRedis();
  await machines.startRedis();
  machines.startWorkers();
  const again = machines.sort('out3');
  check('after all processes were killed, the same command completes', (await again.over) === 0, again.text);
  check(
    'after all processes were killed, the sort is resumed',
    /, resumed/.test(again.text) && /partition: 16 tasks, 16 of them/.test(again.text),
    again.text,
  );
  check('after all processes were killed, the bytes are the same', digest('out3') === expected);

  await machines.stopWorkers();
  await machines.stopRedis();
  const isPrinted = machines.said.includes(PASSWORD) || machines.said.includes(encodeURIComponent(PASSWORD));
  check('no process prints the password', !isPrinted);
  check('the shared folder is empty', readdirSync(join(shared, '.clsort')).length === 0);
  rmSync(path('out3'), { recursive: true });
}

/** Slurm with one node, this host. */
class Slurm {
  folder = join(folder, 'slurm');
  more = { SLURM_CONF: join(this.folder, 'slurm.conf') };

  async start() {
    mkdirSync(join(this.folder, 'state'), { recursive: true });
    mkdirSync(join(this.folder, 'spool'));
    chmodSync(folder, 0o755);
    chmodSync(this.folder, 0o755);
    const file = (name) => join(this.folder, name);
    writeFileSync(file('munge.key'), createHash('sha512').update(`${draw} ${folder}`).digest(), {
      mode: 0o400,
    });
    const munge = [
      '--key-file',
      file('munge.key'),
      '--socket',
      file('munge.sock'),
      '--pid-file',
      file('munge.pid'),
    ];
    start('munged', [
      'munged',
      '--foreground',
      '--force',
      ...munge,
      '--log-file',
      file('munge.log'),
      '--seed-file',
      file('munge.seed'),
    ]);
    await until('munge', () => existsSync(file('munge.sock')));
    const name = hostname().split('.')[0];
    const conf = `
ClusterName=clsort
SlurmctldHost=${name}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${file('munge.sock')}
CredType=cred/munge
StateSaveLocation=${file('state')}
SlurmdSpoolDir=${file('spool')}
SlurmctldPidFile=${file('slurmctld.pid')}
SlurmdPidFile=${file('slurmd.pid')}
SlurmctldPort=${18_000 + (draw % 6000)}
SlurmdPort=${24_000 + (draw % 6000)}
SlurmctldLogFile=${file('slurmctld.log')}
SlurmdLogFile=${file('slurmd.log')}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=2
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=${name} NodeAddr=127.0.0.1 CPUs=${cpus().length} RealMemory=${Math.floor(totalmem() / 2 ** 20 / 2)} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;
    writeFileSync(this.more.SLURM_CONF, conf);
    this.daemons = [
      start('slurmctld', ['slurmctld', '-D'], { more: this.more }),
      start('slurmd', ['slurmd', '-D', '-N', name], { more: this.more }),
    ];
    return until('the node', () =>
      /idle/.test(
        spawnSync('sinfo', ['-h', '-o', '%t'], { encoding: 'utf8', env: { ...env, ...this.more } }).stdout ??
          '',
      ),
    );
  }

  log() {
    return ['slurmctld.log', 'slurmd.log', 'munge.log']
      .map((name) =>
        existsSync(join(this.folder, name))
          ? `${name}\n${readFileSync(join(this.folder, name), 'utf8').slice(-3000)}`
          : name,
      )
      .join('\n');
  }
}

async function overSlurm() {
  for (const name of ['slurmctld', 'slurmd', 'munged', 'sbatch']) {
    if (has(name) && process.getuid() === 0) continue;
    skip('Slurm', process.getuid() === 0 ? `${name} is not installed` : 'its daemons want root');
    return;
  }
  const slurm = new Slurm();
  const isUp = await slurm.start();
  check('Slurm has a node', isUp, slurm.log());
  if (!isUp) return;
  // The fourth share of a stage fails once.
  const flag = join(folder, 'failed-once');
  const wrapper = join(folder, 'once.sh');
  writeFileSync(
    wrapper,
    `#!/bin/sh\ncase "$*" in *"--step partition"*"--share 3") [ -e ${flag} ] || { touch ${flag}; exit 1; };; esac\nexec ${process.execPath} ${MAIN} "$@"\n`,
    { mode: 0o755 },
  );
  const args = [
    process.execPath,
    MAIN,
    'sort',
    path('in.dat'),
    '-o',
    path('out4'),
    ...SORT,
    '--engine',
    'slurm',
  ];
  const more = { ...slurm.more };
  const printed = start(
    'print',
    [...args, '--print', '--device', 'cpu', '--memory', MEMORY, '--command', wrapper],
    { more },
  );
  check(
    'Slurm: the script is printed',
    (await printed.over) === 0 && /--dependency=afterok/.test(printed.text),
    printed.text,
  );
  const submit = async () => {
    const child = start(
      'submit',
      [...args, '--submit', '--device', 'cpu', '--memory', MEMORY, '--command', wrapper],
      { more },
    );
    const code = await child.over;
    check('Slurm: the sort is submitted', code === 0, `${child.text}\n${slurm.log()}`);
    return child.text.match(/job ([0-9a-f]{12})/)?.[1] ?? '';
  };
  const squeue = () =>
    spawnSync('squeue', ['--noheader'], { encoding: 'utf8', env: { ...env, ...more } }).stdout ?? '';
  const isOver = () => squeue().trim() === '';
  const id = await submit();
  const second = start('submit', [...args, '--submit'], { more });
  check(
    'Slurm: a second run reports the first one',
    (await second.over) === 2 && /Slurm is still running it/.test(second.text),
    second.text,
  );
  await until('the first jobs of Slurm', isOver, 150);
  const logs = join(shared, '.clsort', `${id}-logs`);
  const report = () =>
    readdirSync(logs)
      .filter((name) => name.startsWith('report'))
      .map((name) => readFileSync(join(logs, name), 'utf8'));
  check(
    'Slurm: the report tells what is missing',
    /partition +15 +of 16/.test(report().join()),
    `${report().join()}\n${squeue()}`,
  );
  check('Slurm: a task has failed, and there is no result', existsSync(flag) && !existsSync(path('out4')));
  await submit();
  await until('the other jobs of Slurm', isOver, 150);
  check(
    'Slurm: the result is there',
    existsSync(join(path('out4'), 'manifest.json')),
    `${report().join()}\n${slurm.log()}`,
  );
  await checkResult('Slurm', 'out4');
  await batchOverSlurm(more, isOver);
  for (const daemon of slurm.daemons) daemon.kill('SIGTERM');
  await Promise.all(slurm.daemons.map(({ over }) => over));
}

/** Runs a batch whose jobs are tasks of an array; the same command reports the results. */
async function batchOverSlurm(more, isOver) {
  const files = [1, 2, 3].map((seed) =>
    Uint32Array.from({ length: 100_000 }, (_, i) => Math.imul(i + seed, 0x9e3779b1) >>> 0),
  );
  for (const [i, keys] of files.entries()) writeFileSync(path(`batch-${i}.u32`), keys);
  writeFileSync(path('jobs.json'), JSON.stringify([{ in: 'batch-*.u32', out: 'batch/{name}{ext}' }]));
  const batch = async () => {
    const args = ['batch', path('jobs.json'), '--engine', 'slurm', '--submit', '--device', 'cpu', '--json'];
    const child = start('batch', [process.execPath, MAIN, ...args], { more });
    return [await child.over, child.text];
  };
  const [submitted, text] = await batch();
  check('Slurm: a batch is submitted', submitted === 0 && /"clsort.submitted/.test(text), text);
  await until('the batch', isOver, 100);
  const [code, results] = await batch();
  const isReported = code === 0 && /"ok":3,/.test(results) && !/"clsort.submitted/.test(results);
  check('Slurm: the same command reports the results of the batch', isReported, results);
  const isRight = files.every((keys, i) => {
    const file = path(`batch/batch-${i}.u32`);
    return existsSync(file) && Buffer.from(keys.sort().buffer).equals(readFileSync(file));
  });
  check('Slurm: the files of the batch are sorted', isRight);
}

/** Ends all remaining processes, once. */
function end() {
  ending ??= (async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.race([Promise.all([...children].map(({ over }) => over)), delay(5000)]);
    for (const step of undo.reverse()) step();
    if (values.keep) say(`kept: ${folder}`);
    else rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  })();
  return ending;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => end().finally(() => process.exit(1)));
}
try {
  const gen = start('gen', [process.execPath, BENCHMARK, 'gen', String(COUNT), path('in.dat')]);
  check(`${MIB} MiB of records are made`, (await gen.over) === 0, gen.text);
  if (values.only !== 'slurm') await overRedis();
  if (values.only !== 'bullmq') await overSlurm();
} catch (error) {
  check('the script itself', false, error.stack);
} finally {
  await end();
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;
