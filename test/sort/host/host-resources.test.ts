/** The host engine of the addon shares threads and memory with the rest of the process. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { bytesOf } from '../../../src/keys/array.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { keysOf } from '../../distributions.js';
import { where } from '../../where.js';

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}.js`, import.meta.url));
const onLinux = where(process.platform === 'linux', 'no processor time of threads', test.serial);
const printed = (...args: string[]): string =>
  execFileSync(process.execPath, [fixture('host-memory'), ...args], { encoding: 'utf8' }).trim();

/** Returns the microseconds that this thread has run. The system counts them when the thread pauses. */
async function ownTime(): Promise<number> {
  await setTimeout(1);
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1000;
}

onLinux('the JavaScript thread takes almost none of the processor time of a sort', async (t) => {
  await using sorter = await Sorter.open({ device: 'host' });
  const keys = keysOf('u32', 'uniform', 2 ** 24) as Uint32Array;
  const into = new Uint32Array(keys.length);
  await sorter.sort(keys, { into }); // loads its code
  const [before, start] = [await ownTime(), process.cpuUsage()];
  await sorter.sort(keys, { into }); // a new array for each result would occupy the garbage collector
  const own = (await ownTime()) - before;
  const { user, system } = process.cpuUsage(start);
  t.true(own < 0.03 * (user + system), `${own} of ${user + system} microseconds`);
});

test.serial('a sort needs no memory beside its result', (t) => {
  const share = Number(printed());
  t.true(share > 0.9 && share < 1.3, `${share} times the input`);
});

test.serial('exhausted memory rejects, and the keys stay', (t) => {
  t.is(printed('limited'), 'MemoryError\nMemoryError');
});

test('several Sorters and worker threads sort at once', async (t) => {
  const workers = [1, 2].map(() => new Worker(new URL('./fixtures/sorting-worker.js', import.meta.url)));
  const answers = workers.map((worker) => once(worker, 'message'));
  const sorts = [1, 2, 3].map(async (factor) => {
    await using sorter = await Sorter.open({ device: 'host' });
    const keys = keysOf('u32', 'uniform', factor * 2 ** 17) as Uint32Array;
    return Buffer.compare(bytesOf(await sorter.sort(keys)), bytesOf(keys.toSorted())) === 0;
  });
  t.deepEqual(await Promise.all(sorts), [true, true, true]);
  t.deepEqual((await Promise.all(answers)).flat(), [true, true]);
});
